// The reference execution of a graph: node by node, each operator by its plain definition,
// independent of lowering and code generation. It judges compiled models, folds constants
// and resolves shape arithmetic while importing.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "ir/interpret/interpret.h"

namespace tunec {

/// Runs one node. `inputs` are in the node's order (omitted: an Array of no elements and rank 0
/// type u8 is never looked at). Sums of floats accumulate in double under either precision;
/// kNative then rounds each node's result to its type, kFloat64 keeps floats as f64.
Result<std::vector<Array>> RunNode(const Node& node, std::span<const Array> inputs,
                                   std::span<const ValueType> output_types,
                                   Precision precision = Precision::kNative);

/// Runs the graph; one array per graph output. Inputs as Graph::inputs, checked for type and shape.
Result<std::vector<Array>> RunReference(const Graph& graph, std::span<const Array> inputs,
                                        Precision precision = Precision::kNative);

/// What becomes of a node's operands before it runs.
using OperandRewrite = std::function<void(const Node& node, std::vector<Array>& operands)>;
/// The same, natively, with other operands: what a rounding here and there does to the outputs.
Result<std::vector<Array>> RunReferenceWith(const Graph& graph, std::span<const Array> inputs,
                                            const OperandRewrite& rewrite);

}  // namespace tunec
