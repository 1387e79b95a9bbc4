#include "autotune/ceilings.h"

#include <algorithm>

namespace tunec {
namespace {

// Each takes a second. A kernel may stay above the ceiling, because its operations are not float32
// multiply-adds or not all of them are needed.
constexpr int kMostMeasured = 3;

}  // namespace

Status Ceilings::Load() {
  TUNEC_ASSIGN(roofline_, RecordedRoofline(database_, target_));
  return {};
}

Status Ceilings::Ensure() {
  if (roofline_ && !roofline_->Provisional()) return {};
  return MeasureAgain();
}

Status Ceilings::MeasureAgain() {
  if (!measure_ || measured_ == kMostMeasured) return {};
  ++measured_;
  // A machine without the target's vectors, or without the memory, has no ceilings: the search
  // does without.
  const Result<Roofline> now = measure_();
  if (!now) return {};
  TUNEC_ASSIGN(roofline_, RecordRoofline(database_, target_, *now));
  return {};
}

Result<bool> Ceilings::Meet(double flops_per_second) {
  const bool new_height = flops_per_second > fastest_;
  fastest_ = std::max(fastest_, flops_per_second);
  if (!roofline_ || !new_height || flops_per_second <= roofline_->peak_flops) return false;
  const double before = roofline_->peak_flops;
  TUNEC_RETURN_IF_ERROR(MeasureAgain());
  return roofline_->peak_flops > before;
}

double Ceilings::PeakFlops() const {
  if (roofline_) return roofline_->peak_flops;
  // Two fused multiply-adds a cycle at 3 GHz. It only weighs tasks against each other.
  return 3e9 * 4 * target_.host.Lanes(4) * target_.host.threads;
}

double Ceilings::BytesPerSecond() const {
  // Likewise: what a core's share of the caches gives.
  return roofline_ ? roofline_->bytes_per_second : 20e9 * target_.host.threads;
}

bool Ceilings::Firm() const {
  return roofline_ && !roofline_->Provisional() && fastest_ <= roofline_->peak_flops;
}

}  // namespace tunec
