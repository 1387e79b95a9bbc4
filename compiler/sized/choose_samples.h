// Choice of shape samples, from which the dependence of a graph on its sizes is inferred.
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

/// Returns the least sizes, the sizes just below the key's, and the middle of both. Adds the least
/// sizes with a single dimension just below the key's size.
std::vector<Sizes> SamplesOf(const ServedSizes& served);

/// Returns sizes of 1, of 2, a quarter of `sizes`, and the largest listed ones. For a dimension
/// without listed sizes, the last is four times `sizes`.
std::vector<Sizes> SizesFarFrom(const Sizes& sizes, const std::vector<ListedSizes>& listed);

/// Returns further samples, so that each division in the formulas has samples of every remainder
/// that a served size can have. A rounded number, for example with a stride, has one formula for
/// all sizes with the same remainder. So these samples leave no other formula possible. Empty: the
/// samples are sufficient, or there are already 40. Remainders are looked for at the first 2048
/// sizes of a dimension.
std::vector<Sizes> SamplesOfRemainders(const ServedSizes& served, const std::vector<Sizes>& samples,
                                       const std::vector<SizeExpression>& formulas);

}  // namespace tunec
