// Functions that measure the time of a kernel, alone or alternating with a reference kernel. They
// choose the number of samples and the number of runs per sample.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "support/error.h"

namespace tunec {

/// A function that returns the seconds since a fixed moment.
using Clock = std::function<double()>;
Clock SteadyClock();

/// The limits of one measurement.
struct TimingPolicy {
  double budget_seconds = 0.03;    // all samples together, unless `least_samples` take longer
  double sample_seconds = 100e-6;  // minimum length of a sample; it has one or more runs
  int least_samples = 3;
  int most_samples = 25;
  double long_run_seconds = 0.5;  // a run of at least this length is timed once
  double race_factor = 2;  // timing stops if the first sample exceeds this factor times the best
};

/// A function that returns the seconds of `runs` consecutive runs of a kernel, or an error if a run
/// failed. The time may be scaled from another number of runs.
using TimeOf = std::function<Result<double>(int runs)>;

/// Returns the seconds of one run, one entry per sample in the order taken. A warm-up run before
/// the samples determines the runs per sample. `clock` measures the time for the budget. `best` is
/// the fastest known time. If the first sample is over race_factor times `best`, no other follows.
/// `before` is the time of a run just before, if there was one. If that run or the warm-up run is
/// very long or far slower than `best`, its time is the only sample. Errors: those of `time_of`.
Result<std::vector<double>> TimeRuns(const TimeOf& time_of, std::optional<double> best,
                                     const TimingPolicy& policy, const Clock& clock,
                                     std::optional<double> before = std::nullopt);

/// The runs of a reference kernel, one of which is known to take `known` seconds.
struct ReferenceRuns {
  TimeOf time_of;
  double known = 0;
};
/// Takes samples of a kernel that alternate with samples of another kernel. Each sample is divided
/// by the other kernel's time in the same turn, and multiplied by `other.known`. So changes of the
/// clock frequency since the other kernel was first timed do not matter. The order of the two
/// kernels changes with every turn. If the warm-up run is very long, there is one turn. If `before`
/// or the warm-up run is far slower than the other kernel, its time is the only sample and is not
/// scaled. The other rules are those of TimeRuns, with the other kernel as the best.
Result<std::vector<double>> TimeInTurns(const TimeOf& time_of, const ReferenceRuns& other,
                                        const TimingPolicy& policy, const Clock& clock,
                                        std::optional<double> before = std::nullopt);

/// Returns the number of runs in one sample of a kernel that takes `seconds`.
int RunsPerSample(double seconds, const TimingPolicy& policy);

double Median(std::vector<double> samples);
/// Returns the median absolute deviation from the median.
double MedianDeviation(const std::vector<double>& samples);

}  // namespace tunec
