// The interface that measures candidates for the search. In tuning it is a worker process
// (worker_measurer.h), in tests of the search a scripted one.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

/// A callback, called once per candidate when its result arrives. An error stops the request and is
/// returned.
using OnMeasured = std::function<Status(size_t candidate, const Measurement&)>;

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Measures all candidates, on a device in turns with the incumbent. A candidate that crashes or
  /// hangs is a result, not an error. Errors: kCancelled, and any reason why no candidate of the
  /// workload can be measured.
  virtual Status Measure(const Workload& workload, std::span<const CandidateRequest> candidates,
                         const std::optional<Incumbent>& incumbent,
                         const OnMeasured& on_measured) = 0;
  /// Takes `rounds` further samples of each candidate, in turns.
  virtual Status Retime(const Workload& workload, std::span<const CandidateRequest> candidates,
                        int rounds, const OnMeasured& on_measured) = 0;
};

}  // namespace tunec
