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

}  // namespace

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
                "accuracy is '{}', wanted exact, f32, tf32, bf16 or a positive number", text);
  }
  return Accuracy{.mode = AccuracyMode::kBound, .bound = bound};
}

ReductionOrder ReductionOrderFor(const Accuracy& accuracy) {
  return accuracy.mode == AccuracyMode::kExact ? ReductionOrder::kAsWritten : ReductionOrder::kAny;
}

Contraction ContractionFor(const Accuracy& accuracy) {
  return accuracy.mode == AccuracyMode::kExact ? Contraction::kSeparate : Contraction::kFused;
}

}  // namespace tunec
