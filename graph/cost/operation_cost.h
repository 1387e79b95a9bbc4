// The cost of an operator's arithmetic. Lowering uses the cost to choose between recomputing and
// storing a value. Fusion uses it to estimate repeated work.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// Costs of a read from a cache, a division, and a function such as exp, in simple operations.
inline constexpr int kReadCost = 1;
inline constexpr int kDivisionCost = 4;
inline constexpr int kFunctionCost = 16;
/// Greatest cost at which a value that several passes read is recomputed; a more expensive value is
/// stored once.
inline constexpr int kRecomputeLimit = 8;

/// Returns the cost for each element of the result, without computing the operands. The cost is 0
/// for operators that only rename indices. It is also 0 for contractions, which are never
/// recomputed.
int OperationsPerElement(const Node& node);

/// Returns whether the node is a matmul, or a convolution whose window has one element and whose
/// pads are 0.
bool HasNoWindows(const Graph& graph, const Node& node);

/// Returns how often each element of an operand is computed, on average, if the node's kernel
/// computes the operand. `operations` is the cost of an element. The result can be below 1.
double CountComputations(const Graph& graph, const Node& node, ValueId operand, double operations);

}  // namespace tunec
