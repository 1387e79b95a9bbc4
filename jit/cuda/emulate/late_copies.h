// Asynchronous copies of the threads of a block, between their issue and the wait for them.
//
// A GPU may carry one out at any time in between. The emulation does so as late as it may: when its
// thread waits, and not at all when that never waits for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "jit/cuda/emulate/emulated_thread.h"

namespace tunec {

/// One copy of 4, 8 or 16 bytes; of its source fewer may be read, zeros taking the place of the
/// rest.
struct LateCopy {
  static constexpr size_t kMostBytes = 16;

  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  int64_t bytes = 0;
  int64_t read_bytes = 0;
  const AccessName* name = nullptr;
  std::array<std::byte, kMostBytes> issued = {};  // what the source was then
};

class LateCopies {
 public:
  void Issue(int32_t thread, const LateCopy& copy) { threads_[thread].open.push_back(copy); }
  /// Those that the thread issued since its last Commit are a group.
  void Commit(int32_t thread);
  /// Takes out the copies of all but the last `pending` groups of the thread, in their order.
  std::vector<LateCopy> Wait(int32_t thread, int32_t pending);
  /// One that nobody has waited for; null: there is none.
  const LateCopy* AnyLeft() const;

 private:
  struct Thread {
    std::vector<LateCopy> open;  // of no group yet
    std::deque<std::vector<LateCopy>> groups;
  };
  std::map<int32_t, Thread> threads_;
};

}  // namespace tunec
