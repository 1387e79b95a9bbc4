#pragma once

#include <functional>

#include "graph/passes/pass.h"

namespace tunec {

/// Computes one node whose inputs are given (reference.h's RunNode, or compiled code).
using NodeEvaluator = std::function<Result<std::vector<Array>>(
    const Node& node, std::span<const Array> inputs, std::span<const ValueType> output_types)>;

/// Replaces every node whose inputs are all constants by constants. Nodes whose results are
/// larger than their operands by more than PassOptions::fold_growth_bytes are left, as are
/// those with which the graph's constants would outgrow fold_growth_factor, those that make a
/// graph output, and those that the evaluator refuses. Operands that something else reads stay,
/// and count as growth.
/// Requires: verified. Ensures: no foldable node left; the operands may be dead. O(nodes) and
/// the evaluations.
Result<Graph> FoldConstants(const Graph& graph, const PassOptions& options,
                            const NodeEvaluator& evaluate);
/// With RunNode.
Result<Graph> FoldConstants(const Graph& graph, const PassOptions& options);

}  // namespace tunec
