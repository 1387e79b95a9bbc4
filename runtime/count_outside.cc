#include "runtime/count_outside.h"

#include <algorithm>
#include <atomic>

#include "support/check.h"

namespace tunec {
namespace {

/// Counts the indices outside -extent..extent-1. A u64 above the range of int64 becomes negative,
/// as in the kernels.
template <class T>
int64_t CountIn(const std::byte* data, int64_t count, int64_t extent) {
  const auto* elements = reinterpret_cast<const T*>(data);
  int64_t outside = 0;
  for (int64_t i = 0; i < count; ++i) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): an i8 is a number here.
    const auto index = static_cast<int64_t>(elements[i]);
    outside += index < -extent || index >= extent ? 1 : 0;
  }
  return outside;
}

int64_t Count(const IntegerSpan& indices, int64_t extent) {
  const auto count = [&]<class T>(T) { return CountIn<T>(indices.data, indices.count, extent); };
  switch (indices.type) {
    case DataType::kI8:
      return count(int8_t{});
    case DataType::kU8:
      return count(uint8_t{});
    case DataType::kI16:
      return count(int16_t{});
    case DataType::kU16:
      return count(uint16_t{});
    case DataType::kI32:
      return count(int32_t{});
    case DataType::kU32:
      return count(uint32_t{});
    case DataType::kI64:
      return count(int64_t{});
    case DataType::kU64:
      return count(uint64_t{});
    default:
      TUNEC_UNREACHABLE("indices of {}", Name(indices.type));
  }
}

}  // namespace

int64_t CountOutside(const IntegerSpan& indices, int64_t extent, ThreadPool& pool) {
  constexpr int64_t kChunk = 1 << 16;
  if (indices.count <= kChunk) return Count(indices, extent);
  const auto size = static_cast<int64_t>(SizeOf(indices.type));
  std::atomic<int64_t> outside = 0;
  pool.ParallelFor((indices.count + kChunk - 1) / kChunk, [&](int64_t chunk, int) {
    const int64_t begin = chunk * kChunk;
    const IntegerSpan part{indices.data + begin * size, std::min(kChunk, indices.count - begin),
                           indices.type};
    outside.fetch_add(Count(part, extent), std::memory_order_relaxed);
  });
  return outside.load(std::memory_order_relaxed);
}

}  // namespace tunec
