// A record of the asynchronous copies of a block's threads, between the issue and the wait.
//
// A GPU may execute a copy at any time between its issue and the wait. In checked mode, the
// emulation executes a copy as late as possible: at its thread's wait, or never without a wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "jit/cuda/emulate/emulated_thread.h"

namespace tunec {

/// One copy of 4, 8 or 16 bytes. The copy may read fewer bytes than it writes; the rest is zeros.
struct LateCopy {
  static constexpr size_t kMostBytes = 16;

  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  int64_t bytes = 0;
  int64_t read_bytes = 0;
  const AccessName* name = nullptr;
  std::array<std::byte, kMostBytes> issued = {};  // the source at the time of issue
};

class LateCopies {
 public:
  void Issue(int32_t thread, const LateCopy& copy) { threads_[thread].open.push_back(copy); }
  /// Combines the copies that the thread issued since its last Commit into a group, which may be
  /// empty.
  void Commit(int32_t thread);
  /// Removes and returns the copies of all but the last `pending` groups of the thread, in their
  /// order.
  std::vector<LateCopy> Wait(int32_t thread, int32_t pending);
  /// Returns a copy that no Wait has returned; null if there is none.
  const LateCopy* FindUnfinished() const;

 private:
  struct Thread {
    std::vector<LateCopy> open;  // copies without a group
    std::deque<std::vector<LateCopy>> groups;
  };
  std::map<int32_t, Thread> threads_;
};

}  // namespace tunec
