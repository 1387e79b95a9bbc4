#include "tools/roofline.h"

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/thread_pool.h"

namespace tunec {
namespace {

constexpr char kPeakFlops[] = "peak_flops";
constexpr char kBandwidth[] = "dram_bytes_per_second";
constexpr int kAccumulators = 12;  // enough for a latency of 4 and two units with some to spare
constexpr int64_t kRounds = 20000;
constexpr int kRepetitions = 12;
// Larger than the caches of any processor that tunec will meet, smaller than its memory.
constexpr size_t kCopyBytes = size_t{256} << 20;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Written out, so that every accumulator is a register. The result is returned lest the
// compiler drop the work; 0.999 and 1e-4 keep the numbers normal.
#define TUNEC_ACCUMULATORS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

__attribute__((target("avx512f"))) float MultiplyAdd512(int64_t rounds) {
  const __m512 factor = _mm512_set1_ps(0.999F), term = _mm512_set1_ps(1e-4F);
#define TUNEC_DECLARE(i) __m512 a##i = _mm512_set1_ps(i);
#define TUNEC_STEP(i) a##i = _mm512_fmadd_ps(a##i, factor, term);
#define TUNEC_SUM(i) sum = _mm512_add_ps(sum, a##i);
  TUNEC_ACCUMULATORS(TUNEC_DECLARE)
  for (int64_t round = 0; round < rounds; ++round) {
    TUNEC_ACCUMULATORS(TUNEC_STEP)
  }
  __m512 sum = _mm512_setzero_ps();
  TUNEC_ACCUMULATORS(TUNEC_SUM)
#undef TUNEC_DECLARE
#undef TUNEC_STEP
#undef TUNEC_SUM
  return _mm512_cvtss_f32(sum);
}

__attribute__((target("avx2,fma"))) float MultiplyAdd256(int64_t rounds) {
  const __m256 factor = _mm256_set1_ps(0.999F), term = _mm256_set1_ps(1e-4F);
#define TUNEC_DECLARE(i) __m256 a##i = _mm256_set1_ps(i);
#define TUNEC_STEP(i) a##i = _mm256_fmadd_ps(a##i, factor, term);
#define TUNEC_SUM(i) sum = _mm256_add_ps(sum, a##i);
  TUNEC_ACCUMULATORS(TUNEC_DECLARE)
  for (int64_t round = 0; round < rounds; ++round) {
    TUNEC_ACCUMULATORS(TUNEC_STEP)
  }
  __m256 sum = _mm256_setzero_ps();
  TUNEC_ACCUMULATORS(TUNEC_SUM)
#undef TUNEC_DECLARE
#undef TUNEC_STEP
#undef TUNEC_SUM
  return _mm256_cvtss_f32(sum);
}
#undef TUNEC_ACCUMULATORS

/// The best of several, because other work on the machine only ever lowers it.
double MeasurePeak(ThreadPool& pool, int vector_bits) {
  const int lanes = vector_bits / 32;
  std::vector<float> results(static_cast<size_t>(pool.threads()));
  // Several rounds of tasks for each thread, so that the wake-up does not count.
  const int64_t tasks = 16 * pool.threads();
  double best = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const double start = Now();
    pool.ParallelFor(tasks, [&](int64_t, int thread) {
      results[thread] += lanes == 16 ? MultiplyAdd512(kRounds) : MultiplyAdd256(kRounds);
    });
    const double flops = 2.0 * kAccumulators * lanes * kRounds * static_cast<double>(tasks);
    best = std::max(best, flops / (Now() - start));
  }
  return best;
}

double MeasureCopy(ThreadPool& pool, const Buffer& from, Buffer& to) {
  const int64_t tasks = 8 * pool.threads();
  const size_t part = kCopyBytes / static_cast<size_t>(tasks);
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

}  // namespace

double Roofline::SecondsFor(double flops, double bytes) const {
  return std::max(flops / peak_flops, bytes / bytes_per_second);
}

Result<Roofline> MeasureRoofline(const Target& target) {
  const bool wide = target.vector_bits >= 512;
  const bool runs = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") &&
                    (!wide || __builtin_cpu_supports("avx512f"));
  if (!runs)
    return Fail(ErrorCode::kDevice, "this machine does not have the {}-bit vectors of cpu {}",
                target.vector_bits, target.cpu);
  ThreadPool pool(target.threads);
  Roofline roofline;
  roofline.peak_flops = MeasurePeak(pool, target.vector_bits);
  TUNEC_ASSIGN(Buffer from, Buffer::Allocate(kCopyBytes));
  TUNEC_ASSIGN(Buffer to, Buffer::Allocate(kCopyBytes));
  std::memset(from.data(), 1, kCopyBytes);
  std::memset(to.data(), 2, kCopyBytes);
  roofline.bytes_per_second = MeasureCopy(pool, from, to);
  return roofline;
}

Result<std::optional<Roofline>> RecordedRoofline(const Database& database, const Target& target) {
  const std::string key = Print(target);
  TUNEC_ASSIGN(const auto peak, database.GetMachineFact(key, kPeakFlops));
  TUNEC_ASSIGN(const auto bandwidth, database.GetMachineFact(key, kBandwidth));
  if (!peak || !bandwidth || peak->value <= 0 || bandwidth->value <= 0)
    return std::optional<Roofline>();
  return std::optional(Roofline{peak->value, bandwidth->value});
}

Status RecordRoofline(Database& database, const Target& target, const Roofline& roofline) {
  const std::string key = Print(target);
  TUNEC_RETURN_IF_ERROR(database.SetMachineFact(
      key,
      {kPeakFlops, roofline.peak_flops, "float32 multiply-adds in registers, all threads", 0}));
  return database.SetMachineFact(key, {kBandwidth, roofline.bytes_per_second,
                                       "copy of 256 MiB, bytes read and written, all threads", 0});
}

Result<Roofline> EnsureRoofline(Database* database, const Target& target) {
  if (database != nullptr) {
    TUNEC_ASSIGN(const auto recorded, RecordedRoofline(*database, target));
    if (recorded) return *recorded;
  }
  TUNEC_ASSIGN(const Roofline roofline, MeasureRoofline(target));
  if (database != nullptr) TUNEC_RETURN_IF_ERROR(RecordRoofline(*database, target, roofline));
  return roofline;
}

}  // namespace tunec
