// Numbers of a target, such as speeds, for decisions on graphs, such as fusion, storage orders of
// images, and recomputation.
#pragma once

#include <cstdint>

#include "ir/target.h"

namespace tunec {

/// Rough speeds and sizes of a machine.
struct FusionMachine {
  double bytes_per_second = 1e10;  // one core's share of the memory bandwidth
  double operations_per_second = 2e10;
  double launch_seconds = 2e-6;  // launch of a kernel, with its barrier
  double cores = 8;              // with fewer independent parts, some cores are idle
  int vector_registers = 16;     // values that a kernel holds without spilling to memory

  // Rows and columns of the tiles of a product. A kernel that also computes the product's operand
  // computes row_tile rows of the operand, and then all columns of the result for these rows. So
  // each block of rows is one task.
  double row_tile = 8;
  double column_tile = 64;
  double staging_operations = 2;  // to write an element to a cached buffer and read it
  bool chains = true;  // a kernel may compute a contraction and a contraction that is its operand

  // Least number of query rows for which a product, a softmax and a product are combined into an
  // attention. Fewer rows would fill less than half of a vector of 16.
  int64_t fewest_queries = 8;

  // Numbers for storage orders and their costs. Costs are in cycles of one core.
  int64_t vector_lanes = 16;           // f32 elements per vector
  double multiply_adds_per_cycle = 2;  // vector instructions
  double vectors_per_cycle = 0.5;      // loads and stores that miss the first cache
  double elements_per_cycle = 1;       // elements that are gathered or scattered
};

/// Returns the numbers of a target. All CPUs have the same numbers except the vector width and
/// `chains`, which is true only for CPUs without matrix instructions. For a device, the cores are
/// its processors, and all other numbers are the defaults, which are not measured on devices. The
/// host of a device does not matter.
FusionMachine FusionMachineOf(const Target& target);

}  // namespace tunec
