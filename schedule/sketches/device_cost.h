// What blocks of threads cost on a device, for analytic choices: by occupancy, waves and bytes.
//
// The assumptions are those of kernel/predict, and as rough: they only have to rank schedules of
// one Compute.
#pragma once

#include <cstdint>

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

}  // namespace tunec
