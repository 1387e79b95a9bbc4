// A size as a program of a stack machine. A program can be stored, and needs only numbers to be
// evaluated. Evaluation is checked: no program from a file can overflow or divide by zero.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/size/size_condition.h"

namespace tunec {

using Sizes = std::vector<int64_t>;  // one per dimension of a model

class SizeProgram {
 public:
  /// The kinds of steps. Files contain these numbers: never renumber them. A binary step replaces
  /// the last two values. kDivide rounds down, and kRemainder has the
  /// sign of the divisor.
  enum class Kind : uint8_t {
    kConstant = 0,  // pushes `value`
    kSize = 1,      // pushes size number `value`
    kAdd = 2,
    kMultiply = 3,
    kDivide = 4,
    kRemainder = 5,
    kMaximum = 6,
  };
  struct Step {
    Kind kind = Kind::kConstant;
    int64_t value = 0;
    bool operator==(const Step&) const = default;
  };
  static constexpr size_t kMostSteps = 1024;
  static constexpr size_t kMostDepth = 64;

  /// Makes a program without a value.
  SizeProgram() = default;
  /// Makes a program. Returns nullopt for more than kMostSteps steps or kMostDepth values on the
  /// stack, and for an unknown kind or missing operands. Several values at the end, or the number
  /// of a size that is not in [0, sizes), also give nullopt.
  static std::optional<SizeProgram> FromSteps(std::vector<Step> steps, size_t sizes);

  const std::vector<Step>& steps() const { return steps_; }
  bool operator==(const SizeProgram&) const = default;

  /// Returns the value. Returns nullopt if there are no steps, a size is missing from `sizes`, a
  /// divisor is 0, or a value is outside of int64.
  std::optional<int64_t> At(std::span<const int64_t> sizes) const;
  /// Returns the value if it is from 0 to 2^48.
  std::optional<int64_t> ExtentAt(std::span<const int64_t> sizes) const;
  bool IsConstant() const { return steps_.size() == 1 && steps_[0].kind == Kind::kConstant; }
  /// Returns the number of the size if the program is a single size.
  std::optional<size_t> AsSize() const;
  /// Returns whether all sizes of the program have numbers in [0, sizes).
  bool IsOver(size_t sizes) const;
  /// Returns whether the program has the size of this number.
  bool Has(size_t size) const;

 private:
  std::vector<Step> steps_;
};

/// A condition on sizes, with its text for messages.
struct SizeCheck {
  SizeCondition::Kind kind = SizeCondition::Kind::kEqual;
  SizeProgram left;
  SizeProgram right;
  std::string text;
  bool operator==(const SizeCheck&) const = default;

  /// Returns whether the condition holds. A side without a value makes it false.
  bool HoldsAt(std::span<const int64_t> sizes) const;
};

/// Returns the first check that does not hold at these sizes, or null if all hold.
const SizeCheck* FindFailed(const std::vector<SizeCheck>& checks, std::span<const int64_t> sizes);

}  // namespace tunec
