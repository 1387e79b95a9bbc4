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
  bool timing_lock = false;  // time kernels under the lock of the device (timing_lock.h)
};

/// Makes a measurer with one worker process, which is started when needed and again after its end.
/// If the worker dies while several candidates are compiled, each of these is repeated alone, to
/// find the one that ends the worker. `cancelled` may be empty. While the worker is busy,
/// `cancelled` is called at least about ten times a second. While the worker waits for the timing
/// lock, no time limit passes. `on_note` receives lines for users; it may be empty. Measure and
/// Compare fail with kIo if the program does not answer as a worker.
std::unique_ptr<Measurer> MakeWorkerMeasurer(std::string worker_path, WorkerLimits limits,
                                             std::function<bool()> cancelled,
                                             std::function<void(const std::string&)> on_note = {});

}  // namespace tunec
