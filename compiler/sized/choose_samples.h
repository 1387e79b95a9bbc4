// At which sizes a model's graph is looked at, to tell how it depends on them.
#pragma once

#include <vector>

#include "compiler/sized/size_formula.h"
#include "support/size_expression.h"

namespace tunec {

/// Both ends of what a bucket of these sizes serves, each dimension by itself between them, and the
/// middle.
std::vector<Sizes> SamplesBelow(const Sizes& sizes, const std::vector<bool>& open);

/// Further samples, so that each division in the formulas leaves over all that it leaves over for
/// any size that is served. What rounds, as a stride does, is the same formula for all sizes that
/// leave the same: after these samples nothing is left that could be another one. Empty: there are
/// enough.
std::vector<Sizes> SamplesOfRemainders(const Sizes& sizes, const std::vector<bool>& open,
                                       const std::vector<Sizes>& samples,
                                       const std::vector<SizeExpression>& formulas);

}  // namespace tunec
