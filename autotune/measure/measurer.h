// The interface through which the search measures candidates. Tuning implements it by a worker
// process (worker_measurer.h). Tests of the search implement it by scripted results.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

/// A callback, called once per candidate when its result arrives. If it returns an error, the
/// request stops and returns that error.
using OnMeasured = std::function<Status(size_t candidate, const Measurement&)>;

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Measures all candidates. Runs of each candidate alternate with runs of the incumbent, if it
  /// can run. A candidate that crashes or hangs is a result, not an error. Errors: kCancelled, of
  /// `on_measured`, and any reason why no candidate of the workload can be measured.
  virtual Status Measure(const Workload& workload, std::span<const CandidateRequest> candidates,
                         const std::optional<Incumbent>& incumbent,
                         const OnMeasured& on_measured) = 0;
  /// Compares the candidates in turns for at most about `seconds` (CompareInTurns). The first one
  /// is the reference. `on_measured` receives all samples of a candidate in one Measurement.
  virtual Status Compare(const Workload& workload, std::span<const CandidateRequest> candidates,
                         double seconds, const OnMeasured& on_measured) = 0;
};

}  // namespace tunec
