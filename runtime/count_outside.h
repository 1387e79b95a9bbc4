// Counts indices that are out of range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/data_type.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Integers in memory, one behind the other.
struct IntegerSpan {
  const std::byte* data = nullptr;
  int64_t count = 0;
  DataType type = DataType::kI64;
};

/// How many of them lie outside -extent..extent-1. Allocates nothing; the pool helps with many.
int64_t CountOutside(const IntegerSpan& indices, int64_t extent, ThreadPool& pool);

}  // namespace tunec
