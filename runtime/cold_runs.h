// Timing of a kernel whose arguments are not in the device's cache.
//
// In a model, a kernel's weights were last used in the previous run. A kernel that is timed alone,
// again and again on the same arguments, could find them in the cache. The ranking of schedules
// would then depend on the cache. So there are copies of the arguments, and each run uses the next
// copy. Before a copy is used again, the other copies have passed through the cache. The runs of a
// lap are one DeviceSequence, which a GPU usually starts by one launch. So the host's work per
// launch is hardly part of the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// A set of runs that are started together.
struct Lap {
  int copies = 1;  // number of copies of the arguments
  int runs = 1;    // number of runs, a multiple of the copies
  bool operator==(const Lap&) const = default;
};

/// Returns the lap for a kernel that takes about `seconds` and whose arguments have
/// `argument_bytes` in total. The copies suffice to read twice the cache's bytes between two runs
/// on the same copy, and the lap has at least 16 runs. Two limits reduce these numbers: there are
/// at most 256 copies, and a lap takes at most about 10 ms unless one run takes longer.
Lap ChooseLap(int64_t argument_bytes, int64_t cache_bytes, double seconds);

/// A timer of a kernel whose runs use the copies of the arguments in turn.
class ColdRuns {
 public:
  /// Makes a timer with copies of the arguments, fewer than requested if the device's memory is not
  /// sufficient. `bytes` has the size of each argument. Requires: the arguments contain the data
  /// that the runs read; the memory of `call` and the device outlive the timer. Errors: those of
  /// the device.
  static Result<ColdRuns> Make(Device& device, const DeviceCall& call,
                               std::span<const size_t> bytes, Lap requested);

  /// Returns the time of this number of runs in seconds, scaled from the time of whole laps.
  /// Errors: the device's.
  Result<double> Seconds(int runs);
  const Lap& lap() const { return lap_; }

 private:
  ColdRuns() = default;
  Status CopyArguments(Device& device, const std::vector<void*>& arguments,
                       std::span<const size_t> bytes);

  Lap lap_;
  DeviceMemory memory_;  // memory of all copies except the first, which is the original
  std::vector<std::vector<void*>> turns_;  // the arguments of each copy
  std::unique_ptr<DeviceSequence> runs_;
};

}  // namespace tunec
