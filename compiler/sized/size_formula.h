// Formulas of sizes: what a rule says, or found by looking at a few sizes.
#pragma once

#include <optional>
#include <span>

#include "runtime/sized/size_formula.h"
#include "support/size_expression.h"

namespace tunec {

/// What a number was for some sizes.
struct SizeSample {
  Sizes sizes;
  double value = 0;
};

/// The first of the forms of SizeFormula that all samples agree with; none where none does. The
/// samples are to differ in each dimension, at both ends of what is served and between them: a form
/// of this kind that holds at both ends and between them holds for what bends one way only, as
/// min(size, 512).
std::optional<SizeFormula> FitFormula(std::span<const SizeSample> samples);
/// The same of one or two of these terms, of which each has three values or more.
std::optional<SizeFormula> FitFormulaOfTerms(std::span<const SizeSample> samples,
                                             std::span<const SizeExpression> terms);
/// What a rule says. Requires: not empty.
SizeFormula FormulaOf(const SizeExpression& expression);

}  // namespace tunec
