// Measurement of the machine's ceilings: float32 arithmetic, caches and memory.
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

#include "autotune/measure/roofline.h"
#include "runtime/buffer.h"
#include "runtime/thread_pool.h"
#include "support/usable_memory.h"

namespace tunec {
namespace {

// Returns the bytes of each side of the copy that measures the memory bandwidth. With enough memory
// the copy is larger than the caches of most processors. The copy uses only a part of the process's
// memory limit, since a control group kills processes that exceed the limit.
size_t CopyBytes() {
  constexpr int64_t kMost = int64_t{256} << 20, kLeast = int64_t{16} << 20, kUnit = 1 << 20;
  const int64_t usable = UsableMemory();
  if (usable <= 0) return kMost;
  return static_cast<size_t>(std::clamp(usable / 12 / kUnit * kUnit, kLeast, kMost));
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double MeasureCopy(ThreadPool& pool, const Buffer& from, Buffer& to) {
  const int64_t tasks = 8 * pool.threads();
  const size_t part = from.size() / static_cast<size_t>(tasks);
  double best = 0;
  for (int repetition = 0; repetition < 4; ++repetition) {
    const double start = Now();
    pool.ParallelFor(tasks, [&](int64_t task, int) {
      const size_t offset = static_cast<size_t>(task) * part;
      std::memcpy(to.data() + offset, from.data() + offset, part);
    });
    best = std::max(best,
                    2.0 * static_cast<double>(part) * static_cast<double>(tasks) / (Now() - start));
  }
  return best;
}

// Prevents the compiler from merging passes: each pass must read the data again.
void NextPass() { asm volatile("" ::: "memory"); }

// Reads data in passes, and returns a number that depends on the data. The function is inlined into
// one function per vector width. The attribute of that function enables the instructions.
template <class Vector>
[[gnu::always_inline]] inline int64_t Read(const Vector& zero, const std::byte* from, size_t bytes,
                                           int64_t passes) {
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): a template would lose alignment
  Vector seen[4] = {zero, zero, zero, zero};
  for (int64_t pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < bytes; i += sizeof(seen)) {
#pragma GCC unroll 4
      for (size_t part = 0; part < 4; ++part) {
        Vector next;
        std::memcpy(&next, from + i + part * sizeof(Vector), sizeof(Vector));
        seen[part] |= next;
      }
    }
    NextPass();
  }
  return ((seen[0] | seen[1]) | (seen[2] | seen[3]))[0];
}

template <class Vector>
[[gnu::always_inline]] inline void Copy(std::byte* to, const std::byte* from, size_t bytes,
                                        int64_t passes) {
  for (int64_t pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < bytes; i += sizeof(Vector)) {
      Vector next;
      std::memcpy(&next, from + i, sizeof(Vector));
      std::memcpy(to + i, &next, sizeof(Vector));
    }
    NextPass();
  }
}

__attribute__((target("avx512f"))) int64_t Read512(const std::byte* from, size_t bytes,
                                                   int64_t passes) {
  return Read(_mm512_setzero_si512(), from, bytes, passes);
}
__attribute__((target("avx2"))) int64_t Read256(const std::byte* from, size_t bytes,
                                                int64_t passes) {
  return Read(_mm256_setzero_si256(), from, bytes, passes);
}
__attribute__((target("avx512f"))) void Copy512(std::byte* to, const std::byte* from, size_t bytes,
                                                int64_t passes) {
  Copy<__m512i>(to, from, bytes, passes);
}
__attribute__((target("avx2"))) void Copy256(std::byte* to, const std::byte* from, size_t bytes,
                                             int64_t passes) {
  Copy<__m256i>(to, from, bytes, passes);
}

/// A meter of the bandwidth of reading or copying data in caches.
class CacheMeter {
 public:
  CacheMeter(ThreadPool& pool, const Target& target, const Buffer& from, Buffer& to)
      : pool_(pool), wide_(target.host.vector_bits >= 512), from_(from), to_(to) {}

  /// Returns the greatest bandwidth in several repetitions of reading `bytes` bytes and of copying
  /// half of them to the other half. Each thread uses a part of the bytes.
  double BytesPerSecond(double bytes) {
    const auto grains = static_cast<size_t>(bytes / pool_.threads()) / kGrain;
    const size_t part = std::max<size_t>(1, grains) * kGrain;
    const auto passes = std::max<int64_t>(4, static_cast<int64_t>(kPassedBytes / part));
    double best = 0;
    for (int repetition = 0; repetition < kTimes; ++repetition)
      best = std::max(
          {best, Rate(part, passes, &CacheMeter::Read), Rate(part, passes, &CacheMeter::Copy)});
    return best;
  }

 private:
  static constexpr size_t kGrain = 512;
  static constexpr size_t kPassedBytes = size_t{32} << 20;  // per thread; about a millisecond
  static constexpr int kTimes = 4;

  double Rate(size_t part, int64_t passes, void (CacheMeter::*work)(int64_t, size_t, int64_t)) {
    const double start = Now();
    pool_.ParallelFor(pool_.threads(),
                      [&](int64_t task, int) { (this->*work)(task, part, passes); });
    return static_cast<double>(part) * static_cast<double>(passes) * pool_.threads() /
           (Now() - start);
  }
  void Read(int64_t task, size_t part, int64_t passes) {
    const std::byte* from = from_.data() + static_cast<size_t>(task) * part;
    sink_.fetch_or(wide_ ? Read512(from, part, passes) : Read256(from, part, passes),
                   std::memory_order_relaxed);
  }
  // Copies half of `part` bytes, so that `part` bytes are read or written in each pass.
  void Copy(int64_t task, size_t part, int64_t passes) {
    const size_t half = part / 2, offset = static_cast<size_t>(task) * half;
    (wide_ ? Copy512 : Copy256)(to_.data() + offset, from_.data() + offset, half, passes);
  }

  ThreadPool& pool_;
  const bool wide_;
  const Buffer& from_;
  Buffer& to_;
  std::atomic<int64_t> sink_ = 0;  // prevents the compiler from dropping the reads
};

// Measures each cache level with data of half of its size, since other data also use the cache, but
// at most a quarter of `from`. Skips a level if this data is at most twice the previous level.
std::array<CacheCeiling, 3> MeasureCaches(ThreadPool& pool, const Target& target,
                                          const Buffer& from, Buffer& to) {
  std::array<CacheCeiling, 3> caches = CachesOf(target);
  CacheMeter meter(pool, target, from, to);
  double before = 0;
  for (CacheCeiling& cache : caches) {
    const double bytes = std::min(cache.bytes / 2, static_cast<double>(from.size()) / 4);
    if (bytes > 2 * before) cache.bytes_per_second = meter.BytesPerSecond(bytes);
    before = cache.bytes;
  }
  return caches;
}

}  // namespace

Result<Roofline> MeasureRoofline(const Target& target) {
  if (target.device)
    return Fail(ErrorCode::kUnsupported, "cannot measure the ceilings of a {}, only of a cpu",
                target.Kind());
  const bool wide = target.host.vector_bits >= 512;
  const bool runs = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") &&
                    (!wide || __builtin_cpu_supports("avx512f"));
  if (!runs)
    return Fail(ErrorCode::kDevice, "this machine does not have the {}-bit vectors of cpu {}",
                target.host.vector_bits, target.host.cpu);
  TUNEC_ASSIGN(const ArithmeticCeiling peak, MeasureArithmetic(target, Float32Fma()));
  Roofline roofline{.arithmetics = {{Float32Fma().name, peak}}};
  ThreadPool pool(target.host.threads);
  const size_t bytes = CopyBytes();
  TUNEC_ASSIGN(Buffer from, Buffer::Allocate(bytes));
  TUNEC_ASSIGN(Buffer to, Buffer::Allocate(bytes));
  std::memset(from.data(), 1, bytes);
  std::memset(to.data(), 2, bytes);
  roofline.bytes_per_second = MeasureCopy(pool, from, to);
  roofline.caches = MeasureCaches(pool, target, from, to);
  return roofline;
}

}  // namespace tunec
