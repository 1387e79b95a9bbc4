// What the graph's decisions (what is fused, how images are stored, what is computed again) are
// weighed with.
#pragma once

#include <cstdint>

#include "ir/target.h"

namespace tunec {

/// Rough on purpose: decisions hang on orders of magnitude.
struct FusionMachine {
  double bytes_per_second = 1e10;  // one core's share of memory bandwidth
  double operations_per_second = 2e10;
  double launch_seconds = 2e-6;  // of a kernel, with its barrier
  double cores = 8;              // fewer independent parts than this leave some idle
  int vector_registers = 16;     // values that a kernel holds without going through memory

  // A product is computed in tiles. One that computes its operand does so for a block of rows at
  // once, which then walks all columns: only rows make tasks.
  double row_tile = 8;
  double column_tile = 64;
  double staging_operations = 2;  // of each element, to and from a buffer in the cache
  bool chains = true;  // two contractions may share a kernel, where one is the other's operand

  // Attention with fewer rows of queries stays a product, a softmax and a product: they fill less
  // than half of a vector of 16.
  int64_t fewest_queries = 8;

  // Storage orders, in cycles of one core.
  int64_t vector_lanes = 16;           // of f32
  double multiply_adds_per_cycle = 2;  // vector instructions
  double vectors_per_cycle = 0.5;      // loads and stores that miss the first cache
  double elements_per_cycle = 1;       // gathered or scattered
};

/// Every CPU is weighed with the same numbers but for the width of its vectors, so that graphs are
/// grouped alike on all of them; only chains are for those without matrix instructions. A device's
/// processors count as its cores; nothing else of it was measured yet, and nothing of its host
/// decides.
FusionMachine FusionMachineOf(const Target& target);

}  // namespace tunec
