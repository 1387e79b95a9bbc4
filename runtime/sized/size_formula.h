// A number that a model makes of its sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "support/size_expression.h"

namespace tunec {

using Sizes = std::vector<int64_t>;  // one for each dimension of a model

/// constant + sum of factor * size, or such a sum divided and rounded down, or a product of sizes,
/// or one over it or over its root; where it has terms, of these instead of the sizes.
struct SizeFormula {
  /// Stored: never renumber.
  enum class Form : uint8_t { kSum, kProduct, kOverProduct, kOverRoot };
  Form form = Form::kSum;
  double constant = 0;                     // kSum: added; otherwise a factor
  std::vector<double> factors;             // of each size; those of a product are 0 or 1
  double divisor = 1;                      // kSum: what it is divided by, to be rounded down
  std::vector<SizeExpression> terms = {};  // whose values stand for the sizes; none: the sizes do

  /// 0 where a term has no value.
  double At(const Sizes& sizes) const;
  /// As an extent; none where it is none: negative, greater than 2^48 or no number.
  std::optional<int64_t> ExtentAt(const Sizes& sizes) const;
  /// The dimension that the formula is the size of; -1 where it is anything else.
  int dimension() const;
  bool IsConstant() const;
  bool operator==(const SizeFormula&) const = default;

 private:
  double Evaluate(const Sizes& sizes) const;
  double Sum(const Sizes& sizes) const;
  double Product(const Sizes& sizes) const;
};

}  // namespace tunec
