// The reference execution of a graph, with which compiled models are compared. It runs one node
// after the other, without lowering and code generation. It also folds constants, and evaluates the
// shape arithmetic of imported models.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "ir/interpret/interpret.h"

namespace tunec {

/// Runs one node and returns its results. `inputs` has the node's order. For an omitted input it
/// has any array, which is never read. Sums of floats accumulate in double at either precision.
/// kNative rounds each result to its type; kFloat64 stores floats as f64.
Result<std::vector<Array>> RunNode(const Node& node, std::span<const Array> inputs,
                                   std::span<const ValueType> output_types,
                                   Precision precision = Precision::kNative);

/// Runs the graph and returns one array per output. `inputs` has the order of Graph::inputs. Fails
/// if the number, a shape or a type of the arrays differs from that of the graph inputs. But an
/// array of f64 is accepted for each float type.
Result<std::vector<Array>> RunReference(const Graph& graph, std::span<const Array> inputs,
                                        Precision precision = Precision::kNative);

/// A function that changes a node's operands before the node runs.
using OperandRewrite = std::function<void(const Node& node, std::vector<Array>& operands)>;
/// Runs the graph like RunReference at native precision, but calls `rewrite` before each node that
/// computes. Callers can thus measure the effect of rounded operands on the outputs.
Result<std::vector<Array>> RunReferenceWith(const Graph& graph, std::span<const Array> inputs,
                                            const OperandRewrite& rewrite);

}  // namespace tunec
