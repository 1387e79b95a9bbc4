// Counts of a kernel's operations on a GPU, and of the bytes transferred to and from L2 and memory.
// The work is counted from the loops, without a run.
#pragma once

#include <vector>

#include "ir/loop_nest.h"

namespace tunec {

/// Unit of transfers between L2 and a processor, in bytes.
inline constexpr int64_t kSectorBytes = 32;

/// Work of all threads of a phase together.
struct PhaseWork {
  double operations = 0;  // on floats; a multiply-add with one rounding counts as one
  double loads = 0;       // loads of up to 16 bytes by single threads; not from local storage
  double copied_bytes =
      0;  // bytes that asynchronous copies bring to shared storage; not counted in `loads`
  double l2_bytes = 0;      // bytes between the processors and L2
  double memory_bytes = 0;  // bytes between L2 and memory
  // Multiply-adds of the tiles that warps execute, by operand type. `operations` omits them.
  double matrix_f16 = 0;  // includes bf16
  double matrix_tf32 = 0;
  double matrix_i8 = 0;
  bool operator==(const PhaseWork&) const = default;
};

/// Returns the sum of the operations of threads and the multiply-adds of tiles.
double AllOperations(const PhaseWork& work);

/// Returns the work of each phase. `nest` has the form that the stages of a GPU's
/// CodeGenerator return.
///
/// An access of a warp moves the sectors of 32 bytes that the warp's threads touch. The lanes of a
/// vector loop form one access. The sectors are counted for the first warp of a block. While no
/// loop changes the index of an access, a thread does not repeat the access. Each access counts as
/// going to L2: hits in the caches of the processors are not modelled. Each element whose index is
/// loaded (gathers) counts as one sector. For each phase, a tensor is read from memory once and
/// written to memory once, but not with more bytes than it moves from or to L2. Storage of a thread
/// or a block does not count, even if it is not in registers.
std::vector<PhaseWork> CountPhaseWork(const LoopNest& nest);

}  // namespace tunec
