#include "runtime/cache_eviction.h"

#include <cpuid.h>
#include <immintrin.h>
#include <unistd.h>

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

// The pieces into which a thread divides the bytes of its second level.
constexpr size_t kPiecesOfLevel = 8;

// Returns the bytes of a core's second-level cache, or a usual number if it is unknown.
size_t SecondLevelBytes() {
  constexpr size_t kUsual = size_t{1} << 20;
  constexpr size_t kMost = size_t{4} << 20;
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? std::min(static_cast<size_t>(bytes), kMost) : kUsual;
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

// The next piece that a thread reads, on a separate cache line.
struct alignas(kLine) CacheDisplacement::Share {
  size_t next = 0;
};

CacheDisplacement::CacheDisplacement(int threads)
    : piece_(SecondLevelBytes() / kPiecesOfLevel),
      memory_(piece_ * kPiecesOfLevel * static_cast<size_t>(threads)),
      shares_(static_cast<size_t>(threads)) {}

CacheDisplacement::~CacheDisplacement() = default;
CacheDisplacement::CacheDisplacement(CacheDisplacement&&) noexcept = default;
CacheDisplacement& CacheDisplacement::operator=(CacheDisplacement&&) noexcept = default;

void CacheDisplacement::Run(ThreadPool& pool) {
  const auto tasks = static_cast<int64_t>(2 * kPiecesOfLevel) * pool.threads();
  pool.ParallelFor(tasks, [&](int64_t, int thread) {
    size_t& next = shares_[static_cast<size_t>(thread)].next;
    const size_t first = (static_cast<size_t>(thread) * kPiecesOfLevel + next) * piece_;
    next = (next + 1) % kPiecesOfLevel;
    for (size_t at = first; at < first + piece_; at += kLine)
      (void)*static_cast<const volatile std::byte*>(&memory_[at]);
  });
}

}  // namespace tunec
