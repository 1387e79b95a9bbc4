// What blocks of threads cost on a device, for analytic choices: by occupancy, waves and bytes.
//
// The assumptions are those of kernel/predict, and as rough: they only have to rank schedules of
// one Compute.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "ir/occupancy.h"
#include "ir/target.h"

namespace tunec {

/// The device with everything filled in that its part does not tell, by numbers of a middling GPU.
Accelerator WithAllFacts(const Accelerator& device);

/// What one phase does.
struct PhaseCost {
  int64_t blocks = 1;
  BlockUse use;
  double clocks = 0;         // of one block, that its processor issues instructions in
  double l2_bytes = 0;       // of one block
  double memory_bytes = 0;   // of all blocks
  int64_t busy_threads = 0;  // that keep a processor busy; 0: as many as its multiply-adds want
};

/// Seconds; infinite where not even one block fits. Requires: a device with all facts.
double EstimateSeconds(const PhaseCost& cost, const Accelerator& device);

/// The same of blocks whose warps multiply tiles. Two warps for each of the four units that
/// multiply keep a processor busy: one loads while the other multiplies. `clocks` are a block's,
/// where a processor has so many of them at once, > 0.
double EstimateWarpSeconds(PhaseCost cost, const Accelerator& device,
                           const std::function<double(int64_t resident)>& clocks);

/// Clocks until something has come from memory, where `resident` blocks share a processor: others
/// have work meanwhile.
double WaitClocks(int64_t resident);
/// Clocks of so many pieces of a sum, of each not less than it takes until one has come from
/// memory, as many as are on their way: `ahead` of them, 0 where none is.
double PiecesClocks(double pieces, double clocks, double ahead, int64_t resident);

/// The choice of the least seconds among those that were considered, of equals the first. Where all
/// are infinite, as it is made.
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
