// Functions that make formulas of sizes, from the rules of operators or from samples.
#pragma once

#include <optional>
#include <span>

#include "runtime/sized/size_formula.h"
#include "support/size_expression.h"

namespace tunec {

/// The value that a number of a graph, such as an extent, has at one set of sizes.
struct SizeSample {
  Sizes sizes;
  double value = 0;
};

/// Returns a formula that agrees with all samples: a sum, else a product, else a quotient. Returns
/// none if no formula agrees, if different quotients agree, or for more than 8 dimensions. The
/// samples must have several sizes in each dimension: both ends of the served range and sizes
/// between them. If the function is convex or concave, as min(size, 512) is, a sum that agrees at
/// both ends and in the middle is right at all sizes between.
std::optional<SizeFormula> FitFormula(std::span<const SizeSample> samples);
/// Returns a formula of one or two of `terms` that agrees with all samples, or none. Only terms
/// with at least three different values in the samples are used.
std::optional<SizeFormula> FitFormulaOfTerms(std::span<const SizeSample> samples,
                                             std::span<const SizeExpression> terms);
/// Converts the expression of a rule. Requires: the expression is not empty.
SizeFormula FormulaOf(const SizeExpression& expression);

}  // namespace tunec
