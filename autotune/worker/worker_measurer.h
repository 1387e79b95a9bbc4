// Measurement of candidates in a worker process. Tuning measures in this way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "autotune/measure/measurer.h"

namespace tunec {

struct WorkerLimits {
  double seconds_to_greet = 10;       // from the start to the first answer
  double seconds_per_candidate = 10;  // per stage
  double seconds_to_prepare = 120;
  int64_t memory_bytes = 0;  // 0: three quarters of UsableMemory; no limit for a real device
};

/// Makes a measurer with one worker process, which is restarted after a candidate ended it. If the
/// worker dies while several candidates are compiled at once, each is repeated alone, to find the
/// one that ends the worker. `cancelled` may be empty; it is called about ten times a second. A
/// program that does not answer as a worker gives the error kIo.
std::unique_ptr<Measurer> MakeWorkerMeasurer(std::string worker_path, WorkerLimits limits,
                                             std::function<bool()> cancelled);

}  // namespace tunec
