// A number that a model makes of its sizes, as a formula: what a rule says it is, or one that was
// found by looking at a few sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "support/size_expression.h"

namespace tunec {

using Sizes = std::vector<int64_t>;  // one for each dimension of a model

/// What a number was for some sizes.
struct SizeSample {
  Sizes sizes;
  double value = 0;
};

/// constant + sum of factor * size, or such a sum divided and rounded down, or a product of sizes,
/// or one over it or over its root; where it has terms, of these instead of the sizes.
class SizeFormula {
 public:
  /// The first of these forms that all samples agree with; none where none does. The samples are to
  /// differ in each dimension, at both ends of what is served and between them: a form of this kind
  /// that holds at both ends and between them holds for what bends one way only, as min(size, 512).
  static std::optional<SizeFormula> Fit(std::span<const SizeSample> samples);
  /// The same of one or two of these terms, of which each has three values or more.
  static std::optional<SizeFormula> FitTerms(std::span<const SizeSample> samples,
                                             std::span<const SizeExpression> terms);
  /// What a rule says. Requires: not empty.
  static SizeFormula Of(const SizeExpression& expression);

  /// 0 where a term has no value.
  double At(const Sizes& sizes) const;
  /// The dimension that the formula is the size of; -1 where it is anything else.
  int dimension() const;
  bool IsConstant() const;

 private:
  enum class Form : uint8_t { kSum, kProduct, kOverProduct, kOverRoot };
  Form form_ = Form::kSum;
  double constant_ = 0;                // kSum: added; otherwise a factor
  std::vector<double> factors_;        // of each size; those of a product are 0 or 1
  double divisor_ = 1;                 // kSum: what it is divided by, to be rounded down
  std::vector<SizeExpression> terms_;  // whose values stand for the sizes; none: the sizes do

  double Evaluate(const Sizes& sizes) const;
  double Sum(const Sizes& sizes) const;
  double Product(const Sizes& sizes) const;
  bool Agrees(std::span<const SizeSample> samples) const;
  bool SameBetween(const SizeFormula& other, std::span<const SizeSample> samples) const;
  static std::optional<SizeFormula> FitForms(std::span<const SizeSample> samples);
  static std::optional<SizeFormula> FitSum(std::span<const SizeSample> samples);
  static std::optional<SizeFormula> FitQuotient(std::span<const SizeSample> samples);
  static std::optional<SizeFormula> FitProducts(std::span<const SizeSample> samples);
  static std::optional<SizeFormula> FitProduct(std::span<const SizeSample> samples, Form form);
};

}  // namespace tunec
