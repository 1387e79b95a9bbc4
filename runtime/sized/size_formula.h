// Formulas for numbers that a model computes from sizes, such as the extents of outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "support/size_expression.h"

namespace tunec {

using Sizes = std::vector<int64_t>;  // one per dimension of a model

/// A formula of sizes. The forms are: (constant + sum of factor * size) / divisor, rounded down
/// unless the divisor is 1; constant * a product of sizes; constant / a product; constant / the
/// square root of a product. If there are `terms`, their values replace the sizes.
struct SizeFormula {
  /// The forms, in the order above. Files contain these numbers: never renumber them.
  enum class Form : uint8_t { kSum, kProduct, kOverProduct, kOverRoot };
  Form form = Form::kSum;
  double constant = 0;          // kSum: a summand; otherwise a factor
  std::vector<double> factors;  // factor of each size; 0 or 1 in a product
  double divisor = 1;           // kSum: divisor of the sum; the quotient is rounded down
  /// Expressions whose values replace the sizes. Empty: the formula uses the sizes themselves.
  std::vector<SizeExpression> terms = {};

  /// Returns the value, or 0 if a term has no value.
  double At(const Sizes& sizes) const;
  /// Returns the value rounded down to an extent. Returns none if the value is negative, greater
  /// than 2^48 or not a number.
  std::optional<int64_t> ExtentAt(const Sizes& sizes) const;
  /// Returns the dimension if the formula is a kSum without terms of just one dimension's size;
  /// -1 for any other formula.
  int dimension() const;
  bool IsConstant() const;
  bool operator==(const SizeFormula&) const = default;

 private:
  double Evaluate(const Sizes& sizes) const;
  double Sum(const Sizes& sizes) const;
  double Product(const Sizes& sizes) const;
};

}  // namespace tunec
