// Timing a kernel that finds nothing of what it reads in its device's cache.
//
// In a model, what a kernel reads was mostly last touched long ago: weights a whole run ago. Timed
// alone, run after run on the same arguments, it would find all of them in a cache of 50 MB, and
// schedules would be ranked by what that cache does for them. So there are copies of the arguments,
// and each run has the next one: when a copy's turn comes again, the others have gone through the
// cache. The runs of a lap are one DeviceSequence, of a GPU one launch, so that the host's work for
// each launch is no part of their time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// Runs that are started together.
struct Lap {
  int copies = 1;  // of the arguments
  int runs = 1;    // a multiple of the copies
  bool operator==(const Lap&) const = default;
};

/// Of a kernel that takes about `seconds` and whose arguments have `argument_bytes` in all: as many
/// copies as bring twice the cache's bytes between two runs on the same one, and at least sixteen
/// runs; but not more than take a hundredth of a second, for a run that is so long does not depend
/// on what a cache held at its beginning, and not more than 256 copies.
Lap LapFor(int64_t argument_bytes, int64_t cache_bytes, double seconds);

/// A kernel on its arguments and on copies of them.
class ColdRuns {
 public:
  /// `bytes`: of each argument. The arguments hold what the runs are to read; what they point to,
  /// and the device, outlive this. There are fewer copies where the device has no room for more.
  /// Errors: the device's.
  static Result<ColdRuns> Make(Device& device, const DeviceCall& call,
                               std::span<const size_t> bytes, Lap wanted);

  /// What so many runs take: their part of as many laps as hold them. Errors: the device's.
  Result<double> Seconds(int runs);
  const Lap& lap() const { return lap_; }

 private:
  ColdRuns() = default;
  Status CopyArguments(Device& device, const std::vector<void*>& arguments,
                       std::span<const size_t> bytes);

  Lap lap_;
  DeviceMemory memory_;                    // of all copies but the first, which is the original
  std::vector<std::vector<void*>> turns_;  // the arguments of each copy
  std::unique_ptr<DeviceSequence> runs_;
};

}  // namespace tunec
