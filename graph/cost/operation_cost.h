// What an operator's arithmetic costs: lowering asks whether to compute something again or to
// store it, fusion whether to compute it in several kernels.
#pragma once

#include "graph/graph.h"

namespace tunec {

/// In simple operations; a read of memory that is in a cache is 1.
inline constexpr int kReadCost = 1;
inline constexpr int kDivisionCost = 4;
inline constexpr int kFunctionCost = 16;
/// Above this a value that several passes over the data read is stored once instead.
inline constexpr int kRecomputeLimit = 8;

/// For each element of the result, without computing the operands. 0 for what only renames indices,
/// and for products and convolutions, which nobody computes again.
int OperationsPerElement(const Node& node);

/// Whether a product or convolution reads each element of its first operand at most once for each
/// column or channel of the result: a convolution without windows and padding.
bool HasNoWindows(const Graph& graph, const Node& node);

/// How often each element of an operand that costs this much is computed, on average, when the
/// node's kernel computes it; below 1 where some are not needed at all.
double TimesComputed(const Graph& graph, const Node& node, ValueId operand, double operations);

}  // namespace tunec
