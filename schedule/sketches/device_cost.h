// The cost of blocks of threads on a device, for analytic choices. The cost is estimated from
// occupancy, waves and bytes.
//
// The estimates are as rough as those of kernel/predict: the costs only have to rank schedules of
// one Compute.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "ir/occupancy.h"
#include "ir/target.h"

namespace tunec {

/// Returns the device with its unknown properties set to those of a mid-range GPU.
Accelerator WithAllFacts(const Accelerator& device);

/// The work of one phase, from which its time is estimated.
struct PhaseCost {
  int64_t blocks = 1;
  BlockUse use;
  double clocks = 0;        // clocks that one block needs to issue its instructions
  double l2_bytes = 0;      // bytes between L2 and the processors, for one block
  double memory_bytes = 0;  // bytes between memory and L2, for all blocks
  int64_t busy_threads =
      0;  // number of threads that keep a processor busy; 0: the number for the multiply-add units
};

/// Returns the estimated seconds of a phase; infinite if not even one block fits. Requires: no
/// property of the device is unknown (WithAllFacts).
double EstimateSeconds(const PhaseCost& cost, const Accelerator& device);

/// Returns the estimated seconds of a phase whose warps multiply tiles; infinite if no block fits.
/// Two warps for each of the four matrix units keep a processor busy: one loads while the other
/// multiplies. `clocks` returns the clocks of a block if `resident` blocks share a processor.
/// `resident` is > 0.
double EstimateWarpSeconds(PhaseCost cost, const Accelerator& device,
                           const std::function<double(int64_t resident)>& clocks);

/// Returns the clocks that a wait for memory costs a processor, for each block: the latency divided
/// by the number of resident blocks, because other blocks work while one waits.
double WaitClocks(int64_t resident);
/// Returns the clocks of a sum in `pieces` K-blocks of `clocks` clocks each. If `ahead` copies are
/// in flight, a K-block takes at least the wait for memory divided by `ahead`. If `ahead` is 0,
/// each K-block waits for its own copy.
double PiecesClocks(double pieces, double clocks, double ahead, int64_t resident);

/// The cheapest of the choices given to Consider, and the first of equal ones. If no choice has a
/// finite cost, Best returns a default Choice.
template <typename Choice>
class Cheapest {
 public:
  void Consider(const Choice& choice, double seconds) {
    if (seconds >= least_) return;
    least_ = seconds;
    best_ = choice;
  }
  const Choice& Best() const { return best_; }

 private:
  Choice best_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace tunec
