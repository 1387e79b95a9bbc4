// Who measures candidates for the search: in tuning a worker process (worker_measurer.h), in tests
// of the search something scripted.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

/// Called once per candidate as its result arrives; an error stops the request and is returned.
using OnMeasured = std::function<Status(size_t candidate, const Measurement&)>;

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Measures all candidates, on a device beside the incumbent. A candidate that crashes or hangs
  /// is a result, not an error. Errors: kCancelled; whatever keeps the workload as a whole from
  /// being measured.
  virtual Status Measure(const Workload& workload, std::span<const CandidateRequest> candidates,
                         const std::optional<Incumbent>& incumbent,
                         const OnMeasured& on_measured) = 0;
  /// Takes `rounds` further samples of each, in turns.
  virtual Status Retime(const Workload& workload, std::span<const CandidateRequest> candidates,
                        int rounds, const OnMeasured& on_measured) = 0;
};

}  // namespace tunec
