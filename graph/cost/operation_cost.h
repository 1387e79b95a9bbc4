// The cost of an operator's arithmetic. Lowering uses it to choose between recomputing and storing
// a value; fusion uses it to choose whether several kernels compute a value.
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

/// Returns whether a product or convolution reads each element of its first operand at most once
/// for each column or channel of the result. A convolution does so if its window has one element
/// and its pads are 0.
bool HasNoWindows(const Graph& graph, const Node& node);

/// Returns how often each element of an operand with cost `operations` is computed, on average, if
/// the node's kernel computes it. The result is below 1 if some elements are not needed.
double CountComputations(const Graph& graph, const Node& node, ValueId operand, double operations);

}  // namespace tunec
