// A size that follows from other sizes by whole arithmetic, as floor((n + 5) / 2) + 1: how many
// places a window has, how long a concatenation is. It is data, so that it can be stored, and its
// evaluation is checked: nothing that was read from a file makes it overflow or divide by zero.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tunec {

/// Steps of a stack machine. Immutable.
class SizeExpression {
 public:
  /// Stored in files: never renumbered.
  enum class Kind : uint8_t {
    kConstant = 0,  // pushes `value`
    kSize = 1,      // pushes the size of this number
    kAdd = 2,       // of the last two
    kMultiply = 3,  // of the last two
    kDivide = 4,    // the last one by `value`, at least 1, rounded down
  };
  struct Step {
    Kind kind = Kind::kConstant;
    int64_t value = 0;
    bool operator==(const Step&) const = default;
  };
  static constexpr size_t kMostSteps = 96;
  static constexpr size_t kMostDepth = 16;

  /// Of nothing: it has no value.
  SizeExpression() = default;
  static SizeExpression Constant(int64_t value);
  static SizeExpression Size(size_t number);
  /// None where the steps are too many, lack operands, leave more than one value, name a size that
  /// is not below `sizes`, or divide by less than 1.
  static std::optional<SizeExpression> FromSteps(std::vector<Step> steps, size_t sizes);

  bool empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }
  bool operator==(const SizeExpression&) const = default;

  /// None where it is empty, names a size that is not given, or leaves the range of int64.
  std::optional<int64_t> At(std::span<const int64_t> sizes) const;
  /// Of each division, in order, what it leaves over; empty where the expression has no value.
  std::vector<int64_t> RemaindersAt(std::span<const int64_t> sizes) const;
  /// The same of sizes with other numbers: size i is size `numbers[i]`, which there has to be.
  SizeExpression Renumbered(std::span<const size_t> numbers) const;
  /// The size that it is; none where it is anything else.
  std::optional<size_t> AsSize() const;
  std::optional<int64_t> AsConstant() const;
  /// For people: "(d0 + 5) / 2 + 1".
  std::string Text() const;

  /// Of an empty operand, and where the result would have too many steps: empty. Constants are
  /// folded, so that what is written in two ways often is one expression.
  SizeExpression Plus(const SizeExpression& other) const;
  SizeExpression Plus(int64_t number) const { return Plus(Constant(number)); }
  SizeExpression Times(const SizeExpression& other) const;
  SizeExpression Times(int64_t number) const { return Times(Constant(number)); }
  /// Rounded down. Requires: at least 1.
  SizeExpression Over(int64_t divisor) const;

 private:
  std::optional<int64_t> Evaluate(std::span<const int64_t> sizes,
                                  std::vector<int64_t>* remainders) const;
  SizeExpression With(const SizeExpression& other, Kind kind) const;

  std::vector<Step> steps_;
};

}  // namespace tunec
