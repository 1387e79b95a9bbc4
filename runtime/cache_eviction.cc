#include "runtime/cache_eviction.h"

#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <cstdint>

namespace tunec {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kPiece = size_t{64} << 10;

bool HasClflushopt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
}

const std::byte* FirstLine(std::span<const std::byte> piece) {
  return piece.data() - reinterpret_cast<uintptr_t>(piece.data()) % kLine;
}

// Flushes lines without an order, so that many flushes are in flight at a time.
__attribute__((target("clflushopt"))) void FlushUnordered(std::span<const std::byte> piece) {
  const std::byte* const end = piece.data() + piece.size();
  for (const std::byte* line = FirstLine(piece); line < end; line += kLine)
    _mm_clflushopt(const_cast<std::byte*>(line));
}

void FlushInOrder(std::span<const std::byte> piece) {
  const std::byte* const end = piece.data() + piece.size();
  for (const std::byte* line = FirstLine(piece); line < end; line += kLine) _mm_clflush(line);
}

}  // namespace

CacheEviction::CacheEviction(std::span<const std::span<const std::byte>> ranges) {
  for (const std::span<const std::byte> range : ranges) {
    for (size_t at = 0; at < range.size(); at += kPiece)
      pieces_.push_back(range.subspan(at, std::min(kPiece, range.size() - at)));
  }
}

void CacheEviction::Run(ThreadPool& pool) const {
  static const bool unordered = HasClflushopt();
  pool.ParallelFor(static_cast<int64_t>(pieces_.size()), [&](int64_t piece, int) {
    if (unordered) {
      FlushUnordered(pieces_[piece]);
    } else {
      FlushInOrder(pieces_[piece]);
    }
    _mm_mfence();
  });
}

}  // namespace tunec
