// Eviction of bytes from a processor's caches, so that the next kernel reads the bytes from memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/thread_pool.h"

namespace tunec {

/// Ranges of host memory to evict from all caches. The contents do not change, so other threads may
/// read them meanwhile.
class CacheEviction {
 public:
  CacheEviction() = default;
  /// Requires: the memory of the ranges outlives the runs.
  explicit CacheEviction(std::span<const std::span<const std::byte>> ranges);

  bool Empty() const { return pieces_.empty(); }
  /// Evicts the ranges from the caches of all cores. The pool's threads share the work, and are
  /// then usually awake for the next kernel. Allocates nothing.
  void Run(ThreadPool& pool) const;

 private:
  std::vector<std::span<const std::byte>> pieces_;  // parts of the ranges, one per task
};

}  // namespace tunec
