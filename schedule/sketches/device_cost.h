// The cost of blocks of threads on a device, for analytic choices: by occupancy, waves and bytes.
//
// The assumptions are those of kernel/predict, and equally rough: they only have to rank schedules
// of one Compute.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "ir/occupancy.h"
#include "ir/target.h"

namespace tunec {

/// Fills unknown properties of the device with those of a mid-range GPU.
Accelerator WithAllFacts(const Accelerator& device);

/// The work of one phase.
struct PhaseCost {
  int64_t blocks = 1;
  BlockUse use;
  double clocks = 0;         // clocks in which the processor issues instructions of one block
  double l2_bytes = 0;       // bytes of one block
  double memory_bytes = 0;   // bytes of all blocks
  int64_t busy_threads = 0;  // number of threads that keep a processor busy; 0: as many as its
                             // multiply-adds need
};

/// Returns seconds; infinite if not even one block fits. Requires: a device with all facts.
double EstimateSeconds(const PhaseCost& cost, const Accelerator& device);

/// Returns seconds for blocks whose warps multiply tiles. Two warps for each of the four
/// multiplying units keep a processor busy: one loads while the other multiplies. `clocks` returns
/// the clocks of a block if `resident` blocks share a processor; the result is > 0.
double EstimateWarpSeconds(PhaseCost cost, const Accelerator& device,
                           const std::function<double(int64_t resident)>& clocks);

/// Returns the clocks until data arrives from memory if `resident` blocks share a processor. Other
/// blocks work meanwhile.
double WaitClocks(int64_t resident);
/// Returns the clocks of `pieces` K-blocks of a sum. Each takes at least the time until one K-block
/// has arrived from memory, divided by the number in flight. `ahead` is this number; 0 if no copy
/// runs ahead.
double PiecesClocks(double pieces, double clocks, double ahead, int64_t resident);

/// The cheapest of the considered choices, the first of equal ones. If all costs are infinite, it
/// is a default choice.
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
