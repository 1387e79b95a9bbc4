#include "support/size_expression.h"

#include <fmt/format.h>

#include <array>

namespace tunec {
namespace {

using Kind = SizeExpression::Kind;
using Step = SizeExpression::Step;

int64_t FloorDivide(int64_t number, int64_t divisor) {
  const int64_t quotient = number / divisor;
  return number % divisor < 0 ? quotient - 1 : quotient;
}

std::optional<int64_t> Combine(Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflows = kind == Kind::kAdd ? __builtin_add_overflow(a, b, &result)
                                            : __builtin_mul_overflow(a, b, &result);
  return overflows ? std::nullopt : std::optional(result);
}

bool IsBinary(Kind kind) { return kind == Kind::kAdd || kind == Kind::kMultiply; }

bool IsWellFormed(const std::vector<Step>& steps, size_t sizes) {
  if (steps.size() > SizeExpression::kMostSteps) return false;
  size_t depth = 0;
  for (const Step& step : steps) {
    switch (step.kind) {
      case Kind::kSize:
        if (step.value < 0 || static_cast<uint64_t>(step.value) >= sizes) return false;
        [[fallthrough]];
      case Kind::kConstant:
        if (++depth > SizeExpression::kMostDepth) return false;
        break;
      case Kind::kAdd:
      case Kind::kMultiply:
        if (depth < 2) return false;
        --depth;
        break;
      case Kind::kDivide:
        if (depth < 1 || step.value < 1) return false;
        break;
      default:
        return false;
    }
  }
  return depth == (steps.empty() ? 0 : 1);
}

}  // namespace

SizeExpression SizeExpression::Constant(int64_t value) {
  SizeExpression result;
  result.steps_ = {{Kind::kConstant, value}};
  return result;
}

SizeExpression SizeExpression::Size(size_t number) {
  SizeExpression result;
  result.steps_ = {{Kind::kSize, static_cast<int64_t>(number)}};
  return result;
}

std::optional<SizeExpression> SizeExpression::FromSteps(std::vector<Step> steps, size_t sizes) {
  if (!IsWellFormed(steps, sizes)) return std::nullopt;
  SizeExpression result;
  result.steps_ = std::move(steps);
  return result;
}

std::optional<int64_t> SizeExpression::At(std::span<const int64_t> sizes) const {
  return Evaluate(sizes, nullptr);
}

std::vector<int64_t> SizeExpression::RemaindersAt(std::span<const int64_t> sizes) const {
  std::vector<int64_t> remainders;
  if (!Evaluate(sizes, &remainders)) remainders.clear();
  return remainders;
}

SizeExpression SizeExpression::Renumbered(std::span<const size_t> numbers) const {
  SizeExpression result = *this;
  for (Step& step : result.steps_) {
    if (step.kind == Kind::kSize)
      step.value = static_cast<int64_t>(numbers[static_cast<size_t>(step.value)]);
  }
  return result;
}

std::optional<int64_t> SizeExpression::Evaluate(std::span<const int64_t> sizes,
                                                std::vector<int64_t>* remainders) const {
  if (steps_.empty()) return std::nullopt;
  std::array<int64_t, kMostDepth> stack{};
  size_t depth = 0;
  for (const Step& step : steps_) {
    if (step.kind == Kind::kConstant) {
      stack[depth++] = step.value;
    } else if (step.kind == Kind::kSize) {
      if (static_cast<uint64_t>(step.value) >= sizes.size()) return std::nullopt;
      stack[depth++] = sizes[static_cast<size_t>(step.value)];
    } else if (step.kind == Kind::kDivide) {
      const int64_t quotient = FloorDivide(stack[depth - 1], step.value);
      if (remainders != nullptr) remainders->push_back(stack[depth - 1] - quotient * step.value);
      stack[depth - 1] = quotient;
    } else {
      const std::optional<int64_t> both = Combine(step.kind, stack[depth - 2], stack[depth - 1]);
      if (!both) return std::nullopt;
      stack[--depth - 1] = *both;
    }
  }
  return stack[0];
}

std::optional<int64_t> SizeExpression::AsConstant() const {
  if (steps_.size() != 1 || steps_[0].kind != Kind::kConstant) return std::nullopt;
  return steps_[0].value;
}

std::optional<size_t> SizeExpression::AsSize() const {
  if (steps_.size() != 1 || steps_[0].kind != Kind::kSize) return std::nullopt;
  return static_cast<size_t>(steps_[0].value);
}

SizeExpression SizeExpression::With(const SizeExpression& other, Kind kind) const {
  if (empty() || other.empty()) return {};
  const std::optional<int64_t> left = AsConstant(), right = other.AsConstant();
  if (left && right) {
    const std::optional<int64_t> both = Combine(kind, *left, *right);
    return both ? Constant(*both) : SizeExpression();
  }
  if (left) return other.With(*this, kind);  // A constant operand comes last.
  const int64_t neutral = kind == Kind::kAdd ? 0 : 1;
  if (right == neutral) return *this;
  SizeExpression result = *this;
  const size_t size = steps_.size();
  const bool ends_alike =
      right && size >= 3 && steps_.back().kind == kind && steps_[size - 2].kind == Kind::kConstant;
  if (ends_alike) {
    const std::optional<int64_t> both = Combine(kind, steps_[size - 2].value, *right);
    if (!both) return {};
    result.steps_.resize(size - 2);
    return result.With(Constant(*both), kind);
  }
  result.steps_.insert(result.steps_.end(), other.steps_.begin(), other.steps_.end());
  result.steps_.push_back({kind, 0});
  return IsWellFormed(result.steps_, static_cast<size_t>(INT64_MAX)) ? result : SizeExpression();
}

SizeExpression SizeExpression::Plus(const SizeExpression& other) const {
  return With(other, Kind::kAdd);
}

SizeExpression SizeExpression::Times(const SizeExpression& other) const {
  return With(other, Kind::kMultiply);
}

SizeExpression SizeExpression::Over(int64_t divisor) const {
  if (empty() || divisor == 1) return *this;
  if (const std::optional<int64_t> constant = AsConstant())
    return Constant(FloorDivide(*constant, divisor));
  SizeExpression result = *this;
  result.steps_.push_back({Kind::kDivide, divisor});
  return result.steps_.size() <= kMostSteps ? result : SizeExpression();
}

std::string SizeExpression::Text() const {
  std::vector<std::string> stack;
  for (const Step& step : steps_) {
    if (!IsBinary(step.kind) && step.kind != Kind::kDivide) {
      stack.push_back(fmt::format("{}{}", step.kind == Kind::kSize ? "d" : "", step.value));
      continue;
    }
    std::string last = std::move(stack.back());
    if (step.kind == Kind::kDivide) {
      stack.back() = fmt::format("({} / {})", last, step.value);
      continue;
    }
    stack.pop_back();
    stack.back() =
        fmt::format("({} {} {})", stack.back(), step.kind == Kind::kAdd ? "+" : "*", last);
  }
  return stack.empty() ? "" : stack.back();
}

}  // namespace tunec
