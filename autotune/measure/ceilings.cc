#include "autotune/measure/ceilings.h"

#include <algorithm>

namespace tunec {
namespace {

// Maximum number of measurements of one ceiling in a tuning; each takes a second or less. Measuring
// again may not help: a kernel may stay above its ceiling, if some of the counted operations are
// not multiply-adds or are not executed.
constexpr int kMostMeasured = 3;

}  // namespace

Status Ceilings::Load() {
  TUNEC_ASSIGN(roofline_, RecordedRoofline(database_, target_));
  return {};
}

Status Ceilings::Ensure() {
  if (roofline_ && !roofline_->IsProvisional()) return {};
  return MeasureAgain(Float32Fma());
}

// Measures an instruction only if this tuning has not measured it yet, even without success.
Status Ceilings::EnsureArithmetic(const MacInstruction& by) {
  const std::optional<ArithmeticCeiling> known = Find(by);
  const bool sure = known && !known->IsProvisional();
  if (sure || FindPast(by).measured > 0) return {};
  return MeasureAgain(by);
}

// Measures the ceiling, unless it was measured kMostMeasured times. The ceiling of float32 is
// measured together with those of caches and memory.
Status Ceilings::MeasureAgain(const MacInstruction& by) {
  if (FindPast(by).measured == kMostMeasured) return {};
  return &by == &Float32Fma() ? MeasureMachine() : MeasureArithmetic(by);
}

Status Ceilings::MeasureMachine() {
  if (!meters_.machine) return {};
  ++past_[Float32Fma().name].measured;
  const Result<Roofline> now = meters_.machine();
  if (!now) return FailIfInternal(now.error());
  TUNEC_ASSIGN(roofline_, RecordRoofline(database_, target_, *now));
  return {};
}

// Measures the ceiling of an arithmetic if the roofline is known. The ceiling is only stored as
// part of a roofline.
Status Ceilings::MeasureArithmetic(const MacInstruction& by) {
  if (!meters_.arithmetic || !roofline_) return {};
  ++past_[by.name].measured;
  const Result<ArithmeticCeiling> now = meters_.arithmetic(by);
  if (!now) return FailIfInternal(now.error());
  Roofline with = *roofline_;
  const std::optional<ArithmeticCeiling> known = Find(by);
  with.arithmetics[by.name] = known ? Combine(*known, *now) : *now;
  TUNEC_ASSIGN(roofline_, RecordRoofline(database_, target_, with));
  return {};
}

Result<bool> Ceilings::NoteRate(const KernelArithmetic& arithmetic, double flops_per_second) {
  const MacInstruction& by = *arithmetic.by;
  TUNEC_RETURN_IF_ERROR(EnsureArithmetic(by));
  const double rate = flops_per_second * arithmetic.work;
  Past& past = past_[by.name];
  const bool new_height = rate > past.fastest;
  past.fastest = std::max(past.fastest, rate);
  const std::optional<ArithmeticCeiling> before = Find(by);
  if (!before || !new_height || rate <= before->flops) return false;
  TUNEC_RETURN_IF_ERROR(MeasureAgain(by));
  return Find(by)->flops > before->flops;
}

std::optional<ArithmeticCeiling> Ceilings::Find(const MacInstruction& by) const {
  return roofline_ ? roofline_->CeilingOf(by) : std::nullopt;
}

Ceilings::Past Ceilings::FindPast(const MacInstruction& by) const {
  const auto found = past_.find(by.name);
  return found == past_.end() ? Past{} : found->second;
}

std::optional<double> Ceilings::PeakFlops(const KernelArithmetic& arithmetic) const {
  const MacInstruction& by = *arithmetic.by;
  if (const auto known = Find(by)) return known->flops / arithmetic.work;
  if (by.intrinsic != nullptr || target_.device) return std::nullopt;
  // The guess is two vector multiply-adds per cycle and thread at 3 GHz. Its main use is to share
  // trials among tasks.
  return 3e9 * 4 * target_.host.Lanes(static_cast<int>(SizeOf(by.operand))) * target_.host.threads /
         arithmetic.work;
}

double Ceilings::TrafficSeconds(double bytes) const {
  if (roofline_) return roofline_->TrafficSeconds(bytes);
  // The guess is 20 GB/s for each thread of a host or each processor of a device. This is about one
  // core's or processor's share of the bandwidth of shared caches.
  return bytes / (20e9 * (target_.device ? target_.device->processors : target_.host.threads));
}

bool Ceilings::IsFirm(const MacInstruction& by) const {
  const std::optional<ArithmeticCeiling> known = Find(by);
  return known && !known->IsProvisional() && FindPast(by).fastest <= known->flops;
}

}  // namespace tunec
