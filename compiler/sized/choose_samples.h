// At which sizes a model's graph is looked at, to tell how it depends on them.
#pragma once

#include <vector>

#include "compiler/sized/size_formula.h"
#include "runtime/sized/sized_form.h"
#include "support/size_expression.h"

namespace tunec {

/// The sizes that code serves: along the dimensions that are open from these to below the key's.
/// Of a dimension that has no smaller sizes, its own.
struct ServedSizes {
  SizedKey key;
  Sizes least;
};

/// Both ends of what is served, each dimension by itself between them, and the middle.
std::vector<Sizes> SamplesOf(const ServedSizes& served);

/// Some much smaller and larger sizes, the largest listed ones among them.
std::vector<Sizes> SizesFarFrom(const Sizes& sizes, const std::vector<ListedSizes>& listed);

/// Further samples, so that each division in the formulas leaves over all that it leaves over for
/// any size that is served. What rounds, as a stride does, is the same formula for all sizes that
/// leave the same: after these samples nothing is left that could be another one. Empty: there are
/// enough.
std::vector<Sizes> SamplesOfRemainders(const ServedSizes& served, const std::vector<Sizes>& samples,
                                       const std::vector<SizeExpression>& formulas);

}  // namespace tunec
