// Functions that measure the time of a kernel, alone or in turns with other kernels. They choose
// the number of samples and the number of runs per sample.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "support/error.h"
#include "support/statistics.h"

namespace tunec {

/// A function that returns the seconds since a fixed moment.
using Clock = std::function<double()>;
Clock SteadyClock();

/// The limits of one measurement.
struct TimingPolicy {
  double budget_seconds = 0.02;    // all samples together, unless `least_samples` take longer
  double sample_seconds = 100e-6;  // minimum length of a sample; it has one or more runs
  int least_samples = 3;
  int most_samples = 25;
  double long_run_seconds = 0.5;  // a run of at least this length is timed once
  double race_factor = 2;         // timing stops if two samples exceed this factor times the best
  /// In turns, timing stops if all samples, at least least_samples, exceed the other kernel's by
  /// this factor.
  double slower_factor = 1.05;
  /// A turn is disturbed if the known kernel takes this factor times its usual time, or more for a
  /// kernel whose times vary much (UsualTime).
  double disturbance_factor = 1.25;
};

/// A function that returns the seconds of `runs` consecutive runs of a kernel, or an error if a run
/// failed. The time may be scaled from another number of runs.
using TimeOf = std::function<Result<double>(int runs)>;

/// Returns the seconds of one run, one entry per sample in the order taken. A warm-up run before
/// the samples determines the runs per sample. `clock` measures the time for the budget. `best` is
/// the fastest known time. If the first two samples are over race_factor times `best`, no other
/// follows. `before` is the time of a run just before, if there was one. If that run and the
/// warm-up run are far slower than `best`, or the warm-up run is very long, it is the only sample.
/// Errors: those of `time_of`.
Result<std::vector<double>> TimeRuns(const TimeOf& time_of, std::optional<double> best,
                                     const TimingPolicy& policy, const Clock& clock,
                                     std::optional<double> before = std::nullopt);

/// The usual time of a kernel: the median of its latest samples. The least sample would not do:
/// without load, most samples of a kernel whose times vary are far above it. Turns without its
/// slow samples would favour this kernel.
class UsualTime {
 public:
  /// Returns true if a sample is slower than usual by the factor, and by 4 median absolute
  /// deviations. Returns false for the first samples.
  bool IsExceeded(double sample, double factor) const;
  void Add(double sample);

 private:
  std::vector<double> latest_;
};

/// A kernel with known time, in turns with which other kernels are timed.
struct ReferenceRuns {
  TimeOf time_of;
  double known = 0;  // recorded seconds of one run
  UsualTime usual;
};

/// The samples of a kernel that was timed in turns with another one.
struct TimesInTurns {
  std::vector<double> samples;  // seconds of one run, as measured
  std::vector<double> ratios;   // one per sample: its ratio to the other kernel in the same turn
  int turns = 0;                // including disturbed ones
  int disturbed = 0;            // turns that were taken again
};

/// Takes samples of a kernel that alternate with samples of another kernel. The ratios do not
/// depend on slow changes of the machine's speed. The order of the two kernels changes with every
/// turn. A turn is taken again if the other kernel's sample shows a disturbance. If nearly all
/// turns are disturbed, the disturbed ones count. Updates `other.usual`. If the warm-up run is very
/// long, there is one turn. If `before` and the warm-up run are far slower than the other kernel,
/// the lesser of both is the only sample, with its ratio to `other.known`. Other rules are those of
/// TimeRuns.
Result<TimesInTurns> TimeInTurns(const TimeOf& time_of, ReferenceRuns& other,
                                 const TimingPolicy& policy, const Clock& clock,
                                 std::optional<double> before = std::nullopt);

/// The samples of kernels that were compared in turns. samples[k][i] is the i-th round's seconds of
/// one run of kernel k. A kernel that was left out earlier has fewer samples. Kernel 0 has one in
/// every round.
using ComparedTimes = std::vector<std::vector<double>>;

/// The end of a comparison: exactly `rounds` rounds if positive, otherwise when the order is
/// decided or `seconds` have passed, after at least seven rounds.
struct CompareLimits {
  double seconds = 0;
  int rounds = 0;
};
/// Runs the kernels in rounds. The first kernel is the reference. At certain rounds, a kernel is
/// left out if it takes at least 0.99 of the time of the fastest one, by the interval of their
/// ratio (kDecided). The order is decided if only the fastest kernel is left beside the reference,
/// and their interval excludes 1. Rounds in which the reference shows a disturbance are taken
/// again, up to as many as the others. Errors: those of the functions.
Result<ComparedTimes> CompareInTurns(std::span<const TimeOf> kernels, const CompareLimits& limits,
                                     const TimingPolicy& policy, const Clock& clock);

/// The confidence of the intervals that decide between kernels.
inline constexpr double kDecided = 0.9;

/// Returns the ratios of the times of two kernels in the rounds that both have.
std::vector<double> RatiosOf(const std::vector<double>& times, const std::vector<double>& others);
/// Returns the centre of RatiosOf, and its interval with the confidence kDecided. Returns none if
/// there are too few ratios.
std::optional<CentreInterval> RatioInterval(const std::vector<double>& times,
                                            const std::vector<double>& others);
/// Returns the kernel with the least ratio to the reference, among those that were not left out.
/// Returns the reference if no ratio is below 1.
size_t FindFastest(const ComparedTimes& times, size_t reference = 0);

/// Returns the number of runs in one sample of a kernel that takes `seconds`.
int RunsPerSample(double seconds, const TimingPolicy& policy);

}  // namespace tunec
