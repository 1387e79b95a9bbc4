// The reference execution of a graph: node by node, each operator by its plain definition, without
// lowering and code generation. It is the reference for compiled models. It also folds constants
// and evaluates shape arithmetic during import.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "ir/interpret/interpret.h"

namespace tunec {

/// Runs one node. `inputs` are in the node's order; an omitted input is an Array of rank 0 and type
/// u8, which is never read. Sums of floats accumulate in double at either
/// precision. kNative rounds each node's result to its type; kFloat64 stores floats as f64.
Result<std::vector<Array>> RunNode(const Node& node, std::span<const Array> inputs,
                                   std::span<const ValueType> output_types,
                                   Precision precision = Precision::kNative);

/// Runs the graph and returns one array per output. `inputs` have the order of Graph::inputs. Fails
/// if their shapes differ from the graph's, or their types; f64 is accepted for all float types.
Result<std::vector<Array>> RunReference(const Graph& graph, std::span<const Array> inputs,
                                        Precision precision = Precision::kNative);

/// A function that changes a node's operands before the node runs.
using OperandRewrite = std::function<void(const Node& node, std::vector<Array>& operands)>;
/// Runs the graph at native precision with changed operands, to measure the effect of single
/// roundings on the outputs.
Result<std::vector<Array>> RunReferenceWith(const Graph& graph, std::span<const Array> inputs,
                                            const OperandRewrite& rewrite);

}  // namespace tunec
