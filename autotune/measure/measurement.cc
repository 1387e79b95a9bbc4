#include "autotune/measure/measurement.h"

#include <algorithm>

namespace tunec {

void SetTimes(const TimesInTurns& times, Measurement& measurement) {
  measurement.samples = times.samples;
  if (times.ratios.empty()) return;
  const auto interval = FindMedianInterval(times.ratios, kDecided);
  measurement.ratio = Median(times.ratios);
  measurement.low_ratio = interval ? interval->low : std::ranges::min(times.ratios);
}

}  // namespace tunec
