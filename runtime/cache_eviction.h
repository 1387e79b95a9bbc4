// Preparation of a processor's caches for a timed run of a kernel, as other kernels of a model
// leave them: constants are in no cache, and activations are beyond the second level.
#pragma once

#include <cstddef>
#include <memory>
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

/// Memory of each thread of a pool. When a thread reads this memory, other data leaves
/// the first two levels of its caches.
class CacheDisplacement {
 public:
  explicit CacheDisplacement(int threads);
  ~CacheDisplacement();
  CacheDisplacement(CacheDisplacement&&) noexcept;
  CacheDisplacement& operator=(CacheDisplacement&&) noexcept;

  /// Reads twice the bytes of the second level on each thread of the pool that takes its share of
  /// tasks. Requires: the pool has at most the threads of this object. Allocates nothing.
  void Run(ThreadPool& pool);

 private:
  struct Share;
  size_t piece_ = 0;  // bytes that a task reads
  std::vector<std::byte> memory_;
  std::vector<Share> shares_;  // one per thread
};

}  // namespace tunec
