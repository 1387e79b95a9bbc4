#pragma once

#include "graph/passes/pass.h"

namespace tunec {

/// Makes products of one operand with constant matrices (the queries, keys and values of
/// attention) one product with the matrices side by side: constants added to and multiplied with
/// their columns are joined as well, and each result is a slice of the whole, which its readers
/// read in place. Products whose results go on into elementwise operators stay: those would no
/// longer be computed with them. Leaves dead nodes. Requires: constants are folded. Ensures: the
/// same sums in the same order; as many bytes of weights as before. O(nodes + bytes of weights).
Result<Graph> MergeSiblingProducts(const Graph& graph, const PassOptions& options);

}  // namespace tunec
