// Measuring the machine's ceilings, and how far the machine was free for that.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "autotune/machine_load.h"
#include "autotune/measure_time.h"
#include "autotune/roofline.h"
#include "runtime/buffer.h"
#include "runtime/thread_pool.h"

namespace tunec {
namespace {

constexpr int kAccumulators = 12;     // enough for a latency of 4 and two units with some to spare
constexpr int64_t kRounds = 400'000;  // about a millisecond
// Other work on the machine only ever lowers the result, so the best of several counts; the pauses
// spread them over more than one turn of whatever else runs.
constexpr int kRepetitions = 16;
constexpr std::chrono::milliseconds kPause{15};
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

/// What each repetition found.
struct PeakSamples {
  std::vector<double> flops;   // per second
  std::vector<double> shares;  // of the processor, that the threads got
};

PeakSamples SamplePeak(int threads, int vector_bits) {
  const int lanes = vector_bits / 32;
  const double flops = 2.0 * kAccumulators * lanes * static_cast<double>(kRounds) * threads;
  std::vector<float> results(static_cast<size_t>(threads));
  PeakSamples samples;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    if (repetition > 0) std::this_thread::sleep_for(kPause);
    const SideBySide run = RunSideBySide(threads, [&](int thread) {
      results[thread] += lanes == 16 ? MultiplyAdd512(kRounds) : MultiplyAdd256(kRounds);
    });
    samples.flops.push_back(flops / run.seconds);
    samples.shares.push_back(run.share);
  }
  return samples;
}

/// How much of the machine others had while the samples were taken: what they took from the
/// threads, what the host took from a virtual machine, and how far the usual repetition stays
/// behind the best, which is all that a neighbour on the same core leaves to be seen.
double Disturbance(const PeakSamples& samples, double stolen, const Target& target) {
  // More threads than cores have to take turns.
  const double most = std::min(1.0, static_cast<double>(target.cores) / target.threads);
  const double mean = std::accumulate(samples.shares.begin(), samples.shares.end(), 0.0) /
                      static_cast<double>(samples.shares.size());
  const double best = *std::ranges::max_element(samples.flops);
  const double unsteady = 1 - Median(samples.flops) / best;
  constexpr double kUsualSpread = 0.05;
  return std::max({1 - mean / most, stolen, unsteady - kUsualSpread, 0.0});
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

Result<Roofline> MeasureRoofline(const Target& target) {
  const bool wide = target.vector_bits >= 512;
  const bool runs = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") &&
                    (!wide || __builtin_cpu_supports("avx512f"));
  if (!runs)
    return Fail(ErrorCode::kDevice, "this machine does not have the {}-bit vectors of cpu {}",
                target.vector_bits, target.cpu);
  Roofline roofline;
  const StealMeter steal;
  const PeakSamples samples = SamplePeak(target.threads, target.vector_bits);
  roofline.peak_flops = *std::ranges::max_element(samples.flops);
  roofline.disturbance = Disturbance(samples, steal.Share(), target);
  ThreadPool pool(target.threads);
  TUNEC_ASSIGN(Buffer from, Buffer::Allocate(kCopyBytes));
  TUNEC_ASSIGN(Buffer to, Buffer::Allocate(kCopyBytes));
  std::memset(from.data(), 1, kCopyBytes);
  std::memset(to.data(), 2, kCopyBytes);
  roofline.bytes_per_second = MeasureCopy(pool, from, to);
  return roofline;
}

}  // namespace tunec
