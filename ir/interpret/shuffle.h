// Execution of a loop nest's shuffle.
#pragma once

#include <span>

#include "ir/interpret/assignment.h"
#include "ir/interpret/block_thread.h"

namespace tunec {

class CompiledShuffle {
 public:
  CompiledShuffle(const Storage& storage, const Shuffle& shuffle, BlockThread& thread);

  /// Copies the element of the partner thread to the running thread. All threads do so at the same
  /// time, so no race is reported. `point` has the values of the nest's variables. Fails for an
  /// index outside its tensor and a read of an unwritten element.
  Status Run(std::span<int64_t> point);

 private:
  Result<Scalar> ReadPartner(std::span<int64_t> point);

  VarId variable_;  // the thread's number along x
  int64_t distance_;
  BlockThread& thread_;
  ElementAccess from_;
  ElementAccess to_;
};

}  // namespace tunec
