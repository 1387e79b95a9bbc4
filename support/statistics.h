// Robust statistics of samples.
#pragma once

#include <optional>
#include <vector>

namespace tunec {

/// Returns the median. Requires: `samples` is not empty.
double Median(std::vector<double> samples);
/// Returns the median absolute deviation from the median. Requires: `samples` is not empty.
double MedianDeviation(const std::vector<double>& samples);

/// An interval of a median that was estimated from samples.
struct MedianInterval {
  double low = 0;
  double high = 0;
  bool operator==(const MedianInterval&) const = default;
};
/// Returns an interval that contains the true median with a probability of at least `confidence`.
/// The samples are independent, of any distribution. The ends are samples of equal rank from both
/// ends; the narrowest such interval is returned. Returns none if there are too few samples: 90 %
/// needs five.
std::optional<MedianInterval> FindMedianInterval(std::vector<double> samples, double confidence);

/// The centre of a symmetric distribution, estimated from samples, and an interval of it.
struct CentreInterval {
  double centre = 0;
  double low = 0;
  double high = 0;
};
/// Returns the estimate of Hodges and Lehmann (1963). The interval contains the centre with a
/// probability of at least `confidence` (Wilcoxon's signed ranks). For few samples of a normal
/// distribution, the interval is a fifth narrower than that of FindMedianInterval. Returns none if
/// there are too few samples: 90 % needs five.
std::optional<CentreInterval> FindCentreInterval(const std::vector<double>& samples,
                                                 double confidence);

}  // namespace tunec
