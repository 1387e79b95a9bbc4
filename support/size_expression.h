// A size as an expression of other sizes, such as floor((n + 5) / 2) + 1 for a number of windows.
// An expression is data and can be stored. Evaluation is checked: no expression from a file can
// overflow or divide by zero.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tunec {

/// An expression as steps of a stack machine. Functions such as Plus return a new expression.
class SizeExpression {
 public:
  /// The kinds of steps. Files contain these numbers: never renumber them.
  enum class Kind : uint8_t {
    kConstant = 0,  // pushes `value`
    kSize = 1,      // pushes size number `value`
    kAdd = 2,       // adds the last two values
    kMultiply = 3,  // multiplies the last two values
    kDivide = 4,    // divides the last value by `value`, at least 1, rounded down
  };
  struct Step {
    Kind kind = Kind::kConstant;
    int64_t value = 0;
    bool operator==(const Step&) const = default;
  };
  static constexpr size_t kMostSteps = 96;
  static constexpr size_t kMostDepth = 16;

  /// Makes an empty expression, which has no value.
  SizeExpression() = default;
  static SizeExpression Constant(int64_t value);
  static SizeExpression Size(size_t number);
  /// Makes an expression. Returns nullopt in these cases: there are more than kMostSteps steps or
  /// kMostDepth values on the stack; a step's kind is unknown; operands are missing; several values
  /// are left; the number of a size is not in [0, sizes); a divisor is less than 1.
  static std::optional<SizeExpression> FromSteps(std::vector<Step> steps, size_t sizes);

  bool empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }
  bool operator==(const SizeExpression&) const = default;

  /// Returns the value. Returns nullopt if the expression is empty, a size is missing from `sizes`,
  /// or a value leaves the range of int64.
  std::optional<int64_t> At(std::span<const int64_t> sizes) const;
  /// Returns the remainder of each division, in order. Returns an empty list if the expression has
  /// no value.
  std::vector<int64_t> RemaindersAt(std::span<const int64_t> sizes) const;
  /// Returns the expression with size i replaced by size `numbers[i]`. Requires: `numbers` has an
  /// entry for each size.
  SizeExpression Renumbered(std::span<const size_t> numbers) const;
  /// Returns the number of the size if the expression is a single size.
  std::optional<size_t> AsSize() const;
  std::optional<int64_t> AsConstant() const;
  /// Returns the expression as text, such as "(((d0 + 5) / 2) + 1)".
  std::string Text() const;

  /// Returns the sum. The result is empty if an operand is empty, a constant overflows, or the
  /// result would exceed kMostSteps or kMostDepth. Constants are folded, so that equivalent
  /// expressions often become equal.
  SizeExpression Plus(const SizeExpression& other) const;
  SizeExpression Plus(int64_t number) const { return Plus(Constant(number)); }
  SizeExpression Times(const SizeExpression& other) const;
  SizeExpression Times(int64_t number) const { return Times(Constant(number)); }
  /// Returns the quotient, rounded down. The result is empty if the expression is empty, or there
  /// would be too many steps. Requires: divisor >= 1.
  SizeExpression Over(int64_t divisor) const;

 private:
  std::optional<int64_t> Evaluate(std::span<const int64_t> sizes,
                                  std::vector<int64_t>* remainders) const;
  SizeExpression With(const SizeExpression& other, Kind kind) const;

  std::vector<Step> steps_;
};

}  // namespace tunec
