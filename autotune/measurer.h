// Who measures candidates for the search: a worker process in tuning, something scripted in
// tests of the search.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autotune/measurement.h"
#include "support/error.h"

namespace tunec {

/// Called once per candidate as its result arrives; an error stops the request and is returned.
using OnMeasured = std::function<Status(size_t candidate, const Measurement&)>;

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Measures all candidates. A candidate that crashes or hangs is a result, not an error.
  /// Errors: kCancelled; whatever keeps the workload as a whole from being measured.
  virtual Status Measure(const Workload& workload, std::span<const CandidateRequest> candidates,
                         std::optional<double> best_seconds, const OnMeasured& on_measured) = 0;
  /// Takes `rounds` further samples of each, in turns.
  virtual Status Retime(const Workload& workload, std::span<const CandidateRequest> candidates,
                        int rounds, const OnMeasured& on_measured) = 0;
};

struct WorkerLimits {
  double seconds_to_greet = 10;       // from its start to its first answer
  double seconds_per_candidate = 10;  // for each stage
  double seconds_to_prepare = 120;
  int64_t memory_bytes = 0;  // 0: three quarters of the machine's
};

/// A measurer that keeps one worker process, restarted when a candidate took it down. When the
/// worker dies while several candidates are compiled at once, each is repeated alone, so that the
/// guilty one is known. `cancelled` may be empty; it is asked ten times a second. A program that
/// does not greet as a worker does is kIo.
std::unique_ptr<Measurer> MakeWorkerMeasurer(std::string worker_path, WorkerLimits limits,
                                             std::function<bool()> cancelled);

}  // namespace tunec
