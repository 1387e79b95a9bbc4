// Bytes put out of a processor's caches, so that the next kernel finds them in memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/thread_pool.h"

namespace tunec {

/// Of the host's memory. What is written back stays the same: any thread may read it meanwhile.
class CacheEviction {
 public:
  CacheEviction() = default;
  /// The ranges outlive the runs.
  explicit CacheEviction(std::span<const std::span<const std::byte>> ranges);

  bool Empty() const { return pieces_.empty(); }
  /// When it returns, no cache of any core has a line of the ranges. The pool's threads share the
  /// work, about a nanosecond a line, so that they are awake for the kernel that follows. Allocates
  /// nothing.
  void Run(ThreadPool& pool) const;

 private:
  std::vector<std::span<const std::byte>> pieces_;  // tasks
};

}  // namespace tunec
