#include "autotune/accuracy.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace tunec {
namespace {

constexpr std::array<std::pair<AccuracyMode, std::string_view>, 4> kNames = {{
    {AccuracyMode::kExact, "exact"},
    {AccuracyMode::kF32, "f32"},
    {AccuracyMode::kTf32, "tf32"},
    {AccuracyMode::kBf16, "bf16"},
}};

// The largest error of products whose operands are rounded to one bfloat16 limb, relative to the
// products' magnitudes. A limb has eight bits, so 1 + 2^-8 becomes 1. Thus each of the two operands
// has a relative error of at most 2^-8.
constexpr double kErrorOfOneBf16Part = 0x1p-7;

int MinBf16Parts(const Accuracy& accuracy) {
  switch (accuracy.mode) {
    case AccuracyMode::kTf32:
      return 2;
    case AccuracyMode::kBf16:
      return 1;
    case AccuracyMode::kBound:
      if (accuracy.bound >= kErrorOfOneBf16Part) return 1;
      return accuracy.bound >= kErrorOfTwoBf16Parts ? 2 : 3;
    case AccuracyMode::kExact:
    case AccuracyMode::kF32:
      break;
  }
  return 3;
}

// The largest relative error of a product of two operands rounded to TF32. The relative error of
// each operand is at most 2^-11.
constexpr double kErrorOfTf32 = 0x1p-10;

bool MayRoundToTf32(const Accuracy& accuracy) {
  if (accuracy.mode == AccuracyMode::kBound) return accuracy.bound >= kErrorOfTf32;
  return accuracy.mode == AccuracyMode::kTf32 || accuracy.mode == AccuracyMode::kBf16;
}

}  // namespace

double OperandError(AccuracyMode mode) {
  if (mode == AccuracyMode::kTf32) return kErrorOfTf32;
  return mode == AccuracyMode::kBf16 ? kErrorOfOneBf16Part : 0;
}

std::string Print(const Accuracy& accuracy) {
  for (const auto& [mode, name] : kNames) {
    if (accuracy.mode == mode) return std::string(name);
  }
  return fmt::format("{}", accuracy.bound);
}

Result<Accuracy> ParseAccuracy(std::string_view text) {
  for (const auto& [mode, name] : kNames) {
    if (text == name) return Accuracy{.mode = mode};
  }
  double bound = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), bound);
  const bool whole = problem == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(bound) || bound <= 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "accuracy is '{}', expected exact, f32, tf32, bf16 or a positive number", text);
  }
  return Accuracy{.mode = AccuracyMode::kBound, .bound = bound};
}

RoundingFreedom RoundingFreedomFor(const Accuracy& accuracy) {
  RoundingFreedom rounding(ReductionOrderFor(accuracy));
  rounding.min_bf16_parts = MinBf16Parts(accuracy);
  rounding.tf32_operands = MayRoundToTf32(accuracy);
  rounding.allowed_error =
      accuracy.mode == AccuracyMode::kBound ? accuracy.bound : OperandError(accuracy.mode);
  return rounding;
}

ReductionOrder ReductionOrderFor(const Accuracy& accuracy) {
  return accuracy.mode == AccuracyMode::kExact ? ReductionOrder::kAsWritten : ReductionOrder::kAny;
}

Contraction ContractionFor(const Accuracy& accuracy) {
  return accuracy.mode == AccuracyMode::kExact ? Contraction::kSeparate : Contraction::kFused;
}

}  // namespace tunec
