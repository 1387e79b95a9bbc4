// Quasi-affine index expressions, always in normal form: a constant plus a sorted sum of integer
// multiples of atoms. An atom is a variable, a floor division of another index expression by a
// positive constant, or the value of one of the statement's reads (a gather's index). `x mod m` is
// the sum x - m*floor(x/m). Equality is structural.
//
// The context defines the meaning of a variable: an iterator of a statement, a loop of a schedule
// tree, a variable of a loop nest, or a logical dimension of a layout.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/id.h"

namespace tunec {

struct Variable;
using VarId = Id<Variable>;

/// Returns the variable of a tensor's dimension, for expressions over dimensions.
constexpr VarId DimensionVar(size_t dimension) { return VarId(dimension); }
/// Returns the variable of the iterator at a position.
constexpr VarId IteratorVar(size_t position) { return VarId(position); }

class IndexExpr;

/// An operand of the sum in an index expression, without its coefficient.
struct IndexAtom {
  enum class Kind : uint8_t { kVariable, kLoaded, kFloorDiv };
  Kind kind = Kind::kVariable;
  int32_t id = 0;  // kVariable: the variable's number; kLoaded: the read's slot
  std::shared_ptr<const IndexExpr> numerator;  // kFloorDiv
  int64_t divisor = 1;                         // kFloorDiv, > 1

  /// Returns the variable of an atom of kind kVariable.
  VarId variable() const { return VarId(id); }
  std::strong_ordering operator<=>(const IndexAtom& other) const;
  bool operator==(const IndexAtom& other) const { return (*this <=> other) == 0; }
};

struct IndexTerm {
  int64_t coefficient = 1;  // never 0
  IndexAtom atom;
  std::strong_ordering operator<=>(const IndexTerm& other) const;
  bool operator==(const IndexTerm& other) const = default;
};

class IndexExpr {
 public:
  IndexExpr(int64_t constant = 0)
      : constant_(constant) {}  // NOLINT: literals are index expressions
  static IndexExpr Var(VarId variable);
  /// Returns the integer value of read `slot` of the same statement or store.
  static IndexExpr Loaded(int slot);
  /// Returns floor(numerator / divisor), divisor > 0.
  static IndexExpr FloorDiv(const IndexExpr& numerator, int64_t divisor);
  /// Returns value - modulus * floor(value / modulus), modulus > 0; the result is in [0, modulus).
  static IndexExpr Mod(const IndexExpr& value, int64_t modulus);

  const std::vector<IndexTerm>& terms() const { return terms_; }
  int64_t constant() const { return constant_; }
  bool IsConstant() const { return terms_.empty(); }
  /// Returns the variable if the expression is exactly one variable with coefficient 1 and constant
  /// 0.
  std::optional<VarId> AsVar() const;
  /// Returns the coefficient of the variable, not counting its uses inside floor divisions.
  int64_t Coefficient(VarId variable) const;
  /// Returns whether the variable occurs, inside floor divisions too.
  bool Uses(VarId variable) const;
  bool UsesLoaded() const;
  void CollectVars(std::vector<VarId>& into) const;

  IndexExpr operator-() const { return *this * -1; }
  IndexExpr operator+(const IndexExpr& other) const;
  IndexExpr operator-(const IndexExpr& other) const { return *this + other * -1; }
  IndexExpr operator*(int64_t factor) const;
  IndexExpr& operator+=(const IndexExpr& other) { return *this = *this + other; }
  IndexExpr& operator-=(const IndexExpr& other) { return *this = *this - other; }

  std::strong_ordering operator<=>(const IndexExpr& other) const;
  bool operator==(const IndexExpr& other) const { return (*this <=> other) == 0; }

 private:
  std::vector<IndexTerm> terms_;
  int64_t constant_ = 0;
};

/// All integers from lo to hi, both included. The interval is empty if lo > hi.
struct Interval {
  int64_t lo = 0;
  int64_t hi = 0;
  bool operator==(const Interval&) const = default;
};

/// A function that returns the interval of a variable's values, or kUnknownInterval.
using IntervalOf = std::function<Interval(VarId)>;
/// A function that returns the interval of the value of a read slot.
using LoadedIntervalOf = std::function<Interval(int)>;
inline constexpr int64_t kUnbounded = int64_t{1} << 60;
inline constexpr Interval kUnknownInterval{-kUnbounded, kUnbounded};

/// Returns an interval that contains every value of `expr`. The interval is as small as possible
/// for sums of multiples of independent variables, and for `v mod m` of a variable v. Without
/// `loaded`, a loaded value may be any number.
Interval BoundsOf(const IndexExpr& expr, const IntervalOf& variables,
                  const LoadedIntervalOf& loaded = {});

/// Simplifies the expression by the intervals of the variables. With 0 <= b < 32, floor((32*a +
/// b)/32) becomes a. The result is equal for all values of the variables within their intervals.
IndexExpr Simplify(const IndexExpr& expr, const IntervalOf& variables);

/// Replaces every variable v by replacement(v).
IndexExpr Substitute(const IndexExpr& expr, const std::function<IndexExpr(VarId)>& replacement);
/// Replaces variable v by replacements[v].
IndexExpr Substitute(const IndexExpr& expr, std::span<const IndexExpr> replacements);
/// Replaces the slot of each loaded value by `slot_of` of the slot.
IndexExpr RenumberLoaded(const IndexExpr& expr, const std::function<int(int)>& slot_of);

/// Returns the value of the expression. `variables` and `loaded` have the values by variable number
/// and by read slot.
int64_t Evaluate(const IndexExpr& expr, std::span<const int64_t> variables,
                 std::span<const int64_t> loaded = {});

/// Returns text such as `2*i + floor((j + 3)/4) - 1`. Variable v has the name name(v) or names[v],
/// and the value of read slot s is `@s`.
std::string Print(const IndexExpr& expr, const std::function<std::string(VarId)>& name);
std::string Print(const IndexExpr& expr, std::span<const std::string> names);

/// Return the quotient rounded down, its remainder in [0, b), and the quotient rounded up. The
/// divisor `b` must be positive.
constexpr int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t FloorModulo(int64_t a, int64_t b) { return a - b * FloorDivide(a, b); }
constexpr int64_t CeilDivide(int64_t a, int64_t b) { return -FloorDivide(-a, b); }

}  // namespace tunec
