// Candidates measured by a worker process: what tuning uses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "autotune/measure/measurer.h"

namespace tunec {

struct WorkerLimits {
  double seconds_to_greet = 10;       // from its start to its first answer
  double seconds_per_candidate = 10;  // for each stage
  double seconds_to_prepare = 120;
  int64_t memory_bytes = 0;  // 0: three quarters of UsableMemory; no limit for a real device
};

/// A measurer that keeps one worker process, restarted when a candidate took it down. When the
/// worker dies while several candidates are compiled at once, each is repeated alone, so that the
/// guilty one is known. `cancelled` may be empty; it is asked ten times a second. A program that
/// does not greet as a worker does is kIo.
std::unique_ptr<Measurer> MakeWorkerMeasurer(std::string worker_path, WorkerLimits limits,
                                             std::function<bool()> cancelled);

}  // namespace tunec
