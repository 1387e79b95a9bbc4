// Timing one kernel: how often it runs and what is kept.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "support/error.h"

namespace tunec {

/// Seconds since some fixed moment.
using Clock = std::function<double()>;
Clock SteadyClock();

/// How long one measurement may take.
struct TimingPolicy {
  double budget_seconds = 0.03;    // of all samples together, unless `least` takes longer
  double sample_seconds = 100e-6;  // a sample is as many runs as take at least so long
  int least_samples = 3;
  int most_samples = 25;
  double long_run_seconds = 0.5;  // a run that takes so long is timed once
  double race_factor = 2;         // a candidate slower than so many times the best stops
};

/// The seconds that so many runs of a kernel take, one after the other; an error where one of them
/// failed.
using TimeOf = std::function<Result<double>(int runs)>;

/// Seconds of one run, one entry per sample in the order taken. The first runs only warm up.
/// `clock` is for the budget.
/// `best`: the fastest known; a candidate whose first sample is over race_factor times that has
/// one sample only.
/// `before`: the seconds of a run just before, when there was one; it may decide the race alone.
/// Errors: the first that `time_of` returns.
Result<std::vector<double>> TimeRuns(const TimeOf& time_of, std::optional<double> best,
                                     const TimingPolicy& policy, const Clock& clock,
                                     std::optional<double> before = std::nullopt);

/// Samples of a run beside those of another's that is known to take `known` seconds, in turns: each
/// sample is what the run would have taken if the other one's of the same turn had taken `known`.
/// So a clock that goes down meanwhile, or has gone down since the other one was first timed, makes
/// nobody slower. Of each second turn the two change places. Otherwise as TimeRuns with the other
/// one as the best; a race that is lost by far is judged by seconds as they are.
struct KnownRuns {
  TimeOf time_of;
  double known = 0;
};
Result<std::vector<double>> TimeBeside(const TimeOf& time_of, const KnownRuns& other,
                                       const TimingPolicy& policy, const Clock& clock,
                                       std::optional<double> before = std::nullopt);

/// The runs that make up one sample of a kernel that takes `seconds`.
int RunsPerSample(double seconds, const TimingPolicy& policy);

double Median(std::vector<double> samples);
/// The median absolute deviation from the median.
double MedianDeviation(const std::vector<double>& samples);

}  // namespace tunec
