// What the loops of a kernel make a GPU do: operations, and bytes that go to and from its L2 and
// its memory. Counted from the loops, nothing is run.
#pragma once

#include <vector>

#include "ir/loop_nest.h"

namespace tunec {

/// What L2 and a processor exchange at least.
inline constexpr int64_t kSectorBytes = 32;

/// Of all threads of a phase together.
struct PhaseWork {
  double operations = 0;  // on floats; a multiply-add that is rounded once is one
  double loads = 0;       // of up to 16 bytes that are not a thread's or block's own
  double copied_bytes =
      0;                // that copies in flight bring to shared storage; none of them in `loads`
  double l2_bytes = 0;  // between the processors and L2
  double memory_bytes = 0;  // between L2 and memory
  // Multiply-adds of tiles that warps execute, by what they multiply. None of them in `operations`.
  double matrix_f16 = 0;  // and bf16
  double matrix_tf32 = 0;
  double matrix_i8 = 0;
  bool operator==(const PhaseWork&) const = default;
};

/// Those of threads and those of tiles.
double AllOperations(const PhaseWork& work);

/// One for each phase. `nest`: as a GPU's CodeGenerator maps it to threads.
///
/// A warp's access moves the sectors of 32 bytes that its 32 threads touch, and the lanes of a
/// vector loop are one access. Which these are is counted for the first warp of a block. A thread
/// repeats no access whose index no loop changes since. Each access is taken to go to L2: that the
/// processors' own caches hold some of them is not counted. Elements that data chooses (gathers)
/// are a sector each. Each tensor goes through memory once in each phase and direction, but no more
/// of it than goes to L2 or from there. What a thread or a block has for itself counts nothing,
/// also where registers do not hold it.
std::vector<PhaseWork> CountPhaseWork(const LoopNest& nest);

}  // namespace tunec
