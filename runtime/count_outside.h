// Counting of indices that are out of range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/data_type.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Consecutive integers in memory.
struct IntegerSpan {
  const std::byte* data = nullptr;
  int64_t count = 0;
  DataType type = DataType::kI64;
};

/// Returns the number of indices outside -extent..extent-1. Allocates nothing. If there are many
/// indices, the pool's threads share the work.
int64_t CountOutside(const IntegerSpan& indices, int64_t extent, ThreadPool& pool);

}  // namespace tunec
