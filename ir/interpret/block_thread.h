// The running thread of a block in the interpreter of loop nests.
#pragma once

#include <array>
#include <cstdint>

#include "ir/interpret/races.h"
#include "ir/interpret/storage.h"
#include "ir/loop_nest.h"

namespace tunec {

/// The position of the running thread in its block, along three axes. Outside of tiles of warps and
/// loops over threads, the position is 0. SetNumber also selects the thread's own elements of
/// per-thread tensors in the storage. It also sets the thread to which the race detector attributes
/// accesses.
class BlockThread {
 public:
  /// Constructs the thread at position 0. `storage` and `races` must outlive this object.
  BlockThread(Storage& storage, RaceDetector& races) : storage_(storage), races_(races) {}

  void BeginPhase(const Launch& launch) { block_ = launch.block; }
  void SetNumber(size_t axis, int64_t number) {
    numbers_.at(axis) = number;
    races_.SetThread(axis, number);
    storage_.SelectThread(numbers_[0] + block_[0] * (numbers_[1] + block_[1] * numbers_[2]));
  }
  int64_t Number(size_t axis) const { return numbers_.at(axis); }
  RaceDetector& races() const { return races_; }

 private:
  Storage& storage_;
  RaceDetector& races_;
  std::array<int64_t, 3> block_ = {1, 1, 1};  // threads of a block
  std::array<int64_t, 3> numbers_ = {0, 0, 0};
};

}  // namespace tunec
