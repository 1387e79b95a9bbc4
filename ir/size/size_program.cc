#include "ir/size/size_program.h"

#include <algorithm>
#include <array>

namespace tunec {
namespace {

using Kind = SizeProgram::Kind;
using Step = SizeProgram::Step;

int64_t FloorDivide(int64_t number, int64_t divisor) {
  const int64_t quotient = number / divisor;
  const bool rounds_up = number % divisor != 0 && (number < 0) != (divisor < 0);
  return rounds_up ? quotient - 1 : quotient;
}

std::optional<int64_t> Combine(Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (kind) {
    case Kind::kAdd:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::kMultiply:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::kMaximum:
      return std::max(a, b);
    default:
      break;
  }
  // The quotient of the least number by -1 is outside of int64.
  if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
  const int64_t quotient = FloorDivide(a, b);
  return kind == Kind::kDivide ? quotient : a - quotient * b;
}

bool IsWellFormed(const std::vector<Step>& steps, size_t sizes) {
  if (steps.size() > SizeProgram::kMostSteps) return false;
  size_t depth = 0;
  for (const Step& step : steps) {
    if (step.kind > Kind::kMaximum) return false;
    if (step.kind == Kind::kSize && (step.value < 0 || static_cast<uint64_t>(step.value) >= sizes))
      return false;
    if (step.kind == Kind::kConstant || step.kind == Kind::kSize) {
      if (++depth > SizeProgram::kMostDepth) return false;
    } else {
      if (depth < 2) return false;
      --depth;
    }
  }
  return depth == (steps.empty() ? 0 : 1);
}

}  // namespace

std::optional<SizeProgram> SizeProgram::FromSteps(std::vector<Step> steps, size_t sizes) {
  if (!IsWellFormed(steps, sizes)) return std::nullopt;
  SizeProgram result;
  result.steps_ = std::move(steps);
  return result;
}

std::optional<int64_t> SizeProgram::At(std::span<const int64_t> sizes) const {
  if (steps_.empty()) return std::nullopt;
  std::array<int64_t, kMostDepth> stack{};
  size_t depth = 0;
  for (const Step& step : steps_) {
    if (step.kind == Kind::kConstant) {
      stack[depth++] = step.value;
    } else if (step.kind == Kind::kSize) {
      if (static_cast<uint64_t>(step.value) >= sizes.size()) return std::nullopt;
      stack[depth++] = sizes[static_cast<size_t>(step.value)];
    } else {
      const std::optional<int64_t> both = Combine(step.kind, stack[depth - 2], stack[depth - 1]);
      if (!both) return std::nullopt;
      stack[--depth - 1] = *both;
    }
  }
  return stack[0];
}

std::optional<int64_t> SizeProgram::ExtentAt(std::span<const int64_t> sizes) const {
  constexpr int64_t kMost = int64_t{1} << 48;
  const std::optional<int64_t> value = At(sizes);
  return value && *value >= 0 && *value <= kMost ? value : std::nullopt;
}

std::optional<size_t> SizeProgram::AsSize() const {
  if (steps_.size() != 1 || steps_[0].kind != Kind::kSize) return std::nullopt;
  return static_cast<size_t>(steps_[0].value);
}

bool SizeProgram::IsOver(size_t sizes) const {
  return std::ranges::all_of(steps_, [&](const Step& step) {
    return step.kind != Kind::kSize || static_cast<uint64_t>(step.value) < sizes;
  });
}

bool SizeProgram::Has(size_t size) const {
  return std::ranges::find(steps_, Step{Kind::kSize, static_cast<int64_t>(size)}) != steps_.end();
}

bool SizeCheck::HoldsAt(std::span<const int64_t> sizes) const {
  const std::optional<int64_t> a = left.At(sizes), b = right.At(sizes);
  return a && b && HoldsFor(kind, *a, *b);
}

const SizeCheck* FindFailed(const std::vector<SizeCheck>& checks, std::span<const int64_t> sizes) {
  const auto failed =
      std::ranges::find_if(checks, [&](const SizeCheck& check) { return !check.HoldsAt(sizes); });
  return failed == checks.end() ? nullptr : &*failed;
}

}  // namespace tunec
