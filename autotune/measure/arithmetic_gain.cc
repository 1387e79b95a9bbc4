#include "autotune/measure/arithmetic_gain.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "autotune/measure/mac_instruction.h"
#include "autotune/measure/roofline.h"

namespace tunec {
namespace {

constexpr double kUnknown = 1;

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

double MeasureGain(const Target& target, const MacInstruction& by) {
  const Result<ArithmeticCeiling> plain = MeasureArithmetic(target, Float32Fma());
  const Result<ArithmeticCeiling> ceiling = MeasureArithmetic(target, by);
  if (!plain || !ceiling || plain->flops <= 0) return kUnknown;
  return ceiling->flops / plain->flops;
}

// Compilations side by side wait for the one that measures, and don't disturb it.
double GainOfProcess(const Target& target, const MacInstruction& by) {
  static std::mutex mutex;
  static std::map<std::string, double> known;
  const std::scoped_lock lock(mutex);
  const std::string key = Print(target) + " " + by.name;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known[key] = MeasureGain(target, by);
}

}  // namespace

ArithmeticGain MeasuredGain(const Database* database, const Target& target) {
  return [database, target](const TileIntrinsic& intrinsic) {
    const MacInstruction* const by = MacOf(intrinsic);
    if (by == nullptr || by->intrinsic == nullptr) return kUnknown;
    if (const auto recorded = RecordedGain(database, target, *by)) return *recorded;
    return GainOfProcess(target, *by);
  };
}

}  // namespace tunec
