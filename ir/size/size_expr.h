// Sizes as expressions of named sizes: integers, sums, products, floor divisions, remainders,
// minima and maxima. An expression is immutable and always in normal form: a constant plus a sorted
// sum of products. A factor of a product is a named size, or a division, a remainder or a maximum
// of other expressions. A minimum is the negative of a maximum, and d * floor(a / d) is a - a mod
// d. Equality is structural. Two expressions may have equal values but different forms;
// prove_sizes.h compares values.
//
// A named size is an integer >= 0. Divisions round down and a remainder has the sign of the
// divisor, as in Python. The normal form may have a value where the written expression has none: n
// / n is 1.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tunec {

class SizeExpr;

/// The numbers of named sizes.
using SizeValues = std::map<std::string, int64_t, std::less<>>;

/// A factor of a product of sizes.
struct SizeFactor {
  enum class Kind : uint8_t { kName, kDivision, kRemainder, kMaximum };
  Kind kind = Kind::kName;
  std::string name;                // kName
  std::vector<SizeExpr> operands;  // dividend and divisor, or two or more sorted operands
  std::strong_ordering operator<=>(const SizeFactor& other) const;
  bool operator==(const SizeFactor& other) const { return (*this <=> other) == 0; }
};
using SizeFactorPtr = std::shared_ptr<const SizeFactor>;

/// A product: an integer, never 0, and one or more sorted factors. A power repeats its factor.
struct SizeTerm {
  int64_t coefficient = 1;
  std::vector<SizeFactorPtr> factors;
};

class SizeExpr {
 public:
  /// The limits of an expression: the number of factors, including those inside other factors, and
  /// the depth of nested factors.
  static constexpr int kMostFactors = 64;
  static constexpr int kMostDepth = 16;

  SizeExpr(int64_t value = 0);  // NOLINT: literals are sizes
  static SizeExpr Named(std::string name);
  /// Returns an expression without a value. The functions below return it for an unknown operand, a
  /// divisor of 0 and a number beyond 2^60 or -2^60. They also return it beyond the limits above,
  /// and for a maximum of more than eight operands.
  static SizeExpr Unknown();

  bool IsKnown() const { return is_known_; }
  bool IsConstant() const { return is_known_ && sum_ == nullptr; }
  std::optional<int64_t> AsConstant() const;
  /// Returns the value. Requires: IsConstant().
  int64_t Value() const;
  /// Returns the name if the expression is a single named size.
  std::optional<std::string> AsName() const;
  int64_t constant() const { return constant_; }
  const std::vector<SizeTerm>& terms() const;
  /// Returns the names of all sizes that the expression contains.
  std::set<std::string> Names() const;
  size_t Hash() const;

  SizeExpr operator-() const { return *this * -1; }
  SizeExpr operator+(const SizeExpr& other) const;
  SizeExpr operator-(const SizeExpr& other) const { return *this + -other; }
  SizeExpr operator*(const SizeExpr& other) const;
  static SizeExpr FloorDiv(const SizeExpr& dividend, const SizeExpr& divisor);
  static SizeExpr CeilDiv(const SizeExpr& dividend, const SizeExpr& divisor) {
    return -FloorDiv(-dividend, divisor);
  }
  static SizeExpr Mod(const SizeExpr& dividend, const SizeExpr& divisor);
  static SizeExpr Max(const SizeExpr& a, const SizeExpr& b);
  static SizeExpr Min(const SizeExpr& a, const SizeExpr& b) { return -Max(-a, -b); }

  std::strong_ordering operator<=>(const SizeExpr& other) const;
  bool operator==(const SizeExpr& other) const { return (*this <=> other) == 0; }

 private:
  struct Sum;
  friend SizeExpr MakeSum(std::vector<SizeTerm> terms);

  int64_t constant_ = 0;
  bool is_known_ = true;
  std::shared_ptr<const Sum> sum_;  // null for a constant
};

/// Returns the sum in normal form. A term without factors is a part of the constant. Requires: the
/// operands of each factor are in normal form.
SizeExpr MakeSum(std::vector<SizeTerm> terms);

/// Returns the expression with each factor replaced. `replacement` returns nullopt for a factor
/// that stays. The operands of a factor that stays are not replaced.
SizeExpr ReplaceFactors(
    const SizeExpr& expr,
    const std::function<std::optional<SizeExpr>(const SizeFactor&)>& replacement);
/// Returns the expression with named sizes replaced everywhere. Requires: the replacements are not
/// negative.
SizeExpr Substitute(const SizeExpr& expr, const std::map<std::string, SizeExpr>& sizes);

/// Returns the value. Returns nullopt if a name is missing from `sizes`, a divisor is 0, or a value
/// is beyond 2^60 or -2^60.
std::optional<int64_t> Evaluate(const SizeExpr& expr, const SizeValues& sizes);

}  // namespace tunec

template <>
struct std::hash<tunec::SizeExpr> {
  size_t operator()(const tunec::SizeExpr& expr) const { return expr.Hash(); }
};
