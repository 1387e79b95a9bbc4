// Choice of the sizes at which a graph is sampled, to infer how the graph depends on its sizes.
#pragma once

#include <vector>

#include "compiler/sized/size_formula.h"
#include "runtime/sized/sized_form.h"
#include "support/size_expression.h"

namespace tunec {

/// The sizes that code serves: along each dynamic dimension from `least` up to the key's size.
/// Along the other dimensions, `least` is the key's size.
struct ServedSizes {
  SizedKey key;
  Sizes least;
};

/// Returns the least sizes, the sizes just below the key's, and the middle of both. Also returns,
/// for each dynamic dimension, the least sizes with this dimension just below the key's size.
std::vector<Sizes> SamplesOf(const ServedSizes& served);

/// Returns four sets of sizes: all 1, all 2, a quarter of `sizes`, and the largest listed sizes. In
/// the last set, a dimension without listed sizes has four times its size in `sizes`.
std::vector<Sizes> SizesFarFrom(const Sizes& sizes, const std::vector<ListedSizes>& listed);

/// Returns further samples for the divisions in the formulas, with the remainders that do not occur
/// in `samples`. A rounded number, for example with a stride, has one formula for all sizes
/// with the same remainder. The result is empty if every remainder occurs, or if there are already
/// 40 samples. Only the remainders of about the first 2048 served sizes of a dimension are
/// considered.
std::vector<Sizes> SamplesOfRemainders(const ServedSizes& served, const std::vector<Sizes>& samples,
                                       const std::vector<SizeExpression>& formulas);

}  // namespace tunec
