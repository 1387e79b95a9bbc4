#include "autotune/measure/arithmetic_gain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "autotune/measure/mac_instruction.h"
#include "autotune/measure/roofline.h"
#include "autotune/measure/timing_lock.h"
#include "ir/emulated_amx.h"

namespace tunec {
namespace {

constexpr double kUnknown = 1;
// The gain of AMX on a host that emulates AMX. The value is that of bf16 on machines with AMX: 512
// multiply-adds per cycle, compared with 32 by vectors. A gain measured under emulation would be
// far below 1, so no AMX tile would rank first.
constexpr double kEmulated = 16;

// Returns the nearest power of the square root of 2. Measured gains vary by a tenth, and the same
// model should have the same analytic schedules in every process.
double Rounded(double gain) {
  return gain > 0 ? std::exp2(std::round(2 * std::log2(gain)) / 2) : 0;
}

bool IsEmulated(const TileIntrinsic& intrinsic, const Target& target) {
  const auto is_of_amx = [](const std::string& feature) { return feature.starts_with("amx-"); };
  return target.Has(kAmxEmulated) && std::ranges::any_of(intrinsic.features, is_of_amx);
}

std::optional<double> RecordedGain(const Database* database, const Target& target,
                                   const MacInstruction& by) {
  if (database == nullptr) return std::nullopt;
  const Result<std::optional<Roofline>> recorded = RecordedRoofline(*database, target);
  if (!recorded || !*recorded) return std::nullopt;
  const std::optional<ArithmeticCeiling> plain = (*recorded)->CeilingOf(Float32Fma());
  const std::optional<ArithmeticCeiling> ceiling = (*recorded)->CeilingOf(by);
  if (!plain || !ceiling || plain->flops <= 0) return std::nullopt;
  return ceiling->flops / plain->flops;
}

// Measures the gain with one thread, since other processes disturb one thread less than several.
// The measurements of the two ceilings alternate, so that a disturbance affects both. A disturbance
// can only lower a ceiling, so the greatest value of each ceiling is taken. Returns none if a wait
// for the lock is cancelled.
std::optional<double> MeasureGain(Target target, const MacInstruction& by, TimingLock* lock) {
  constexpr int kMostTurns = 4;
  target.host.threads = 1;
  ArithmeticCeiling plain, ceiling;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    const Result<TimingLock::Hold> hold = AcquireIfAny(lock);
    if (!hold) return std::nullopt;
    const Result<ArithmeticCeiling> plain_now = MeasureArithmetic(target, Float32Fma());
    const Result<ArithmeticCeiling> now = MeasureArithmetic(target, by);
    if (!plain_now || !now) return kUnknown;
    plain = turn == 0 ? *plain_now : Combine(plain, *plain_now);
    ceiling = turn == 0 ? *now : Combine(ceiling, *now);
    if (!plain.IsProvisional() && !ceiling.IsProvisional()) break;
  }
  return plain.flops > 0 ? ceiling.flops / plain.flops : kUnknown;
}

// Returns the gain, which is measured once per process, target and instruction. Concurrent calls
// wait, so that two measurements do not disturb each other.
double GainOfProcess(const Target& target, const MacInstruction& by, const GainLock& use) {
  constexpr double kMostSeconds = 10;  // a compilation should not wait longer
  static std::mutex mutex;
  // Never destroyed: tuning in the background may use it during the end of the process.
  static auto& known = *new std::map<std::string, double>;
  const std::scoped_lock guard(mutex);
  const std::string key = Print(target) + " " + by.name;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  TimingLock lock(HostTimingLockPath(), {.cancelled = use.cancelled, .most_seconds = kMostSeconds});
  const std::optional<double> gain = MeasureGain(target, by, use.use ? &lock : nullptr);
  if (!gain) return kUnknown;
  return known[key] = *gain;
}

}  // namespace

ArithmeticGain MeasuredGain(const Database* database, const Target& target, GainLock lock) {
  return [database, target, lock = std::move(lock)](const TileIntrinsic& intrinsic) {
    const MacInstruction* const by = MacOf(intrinsic);
    if (by == nullptr || by->intrinsic == nullptr) return kUnknown;
    if (IsEmulated(intrinsic, target)) return kEmulated;
    if (const auto recorded = RecordedGain(database, target, *by)) return Rounded(*recorded);
    return Rounded(GainOfProcess(target, *by, lock));
  };
}

}  // namespace tunec
