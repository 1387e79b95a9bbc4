// Choice of shape samples, from which the dependence of a graph on its sizes is inferred.
#pragma once

#include <vector>

#include "compiler/sized/size_formula.h"
#include "runtime/sized/sized_form.h"
#include "support/size_expression.h"

namespace tunec {

/// The sizes that code serves: along each dynamic dimension from `least` up to the key's size. For
/// a dimension without smaller sizes, `least` is the key's size.
struct ServedSizes {
  SizedKey key;
  Sizes least;
};

/// Returns the smallest and the largest served sizes, sizes between them for each single dimension,
/// and the middle.
std::vector<Sizes> SamplesOf(const ServedSizes& served);

/// Returns some much smaller and larger sizes, including the largest listed ones.
std::vector<Sizes> SizesFarFrom(const Sizes& sizes, const std::vector<ListedSizes>& listed);

/// Returns further samples, so that each division in the formulas has samples of every remainder
/// that a served size can have. A rounded number, for example with a stride, has one formula for
/// all sizes with the same remainder. So these samples leave no other formula possible. Empty: the
/// samples are sufficient.
std::vector<Sizes> SamplesOfRemainders(const ServedSizes& served, const std::vector<Sizes>& samples,
                                       const std::vector<SizeExpression>& formulas);

}  // namespace tunec
