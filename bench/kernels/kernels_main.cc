// Times hand-written LoopNests on one core against the rate of an FMA burst run right beside each:
// what the code generator makes of a nest, without schedules or runtime.
//
//     bench_kernels [only names containing this]
//
// Prints per kernel: the median of 21 repetitions and their quartiles in processor time, percent of
// the peak measured in the same seconds, compile time (LLVM IR, machine code).
#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/kernels/nests.h"
#include "jit/compile.h"
#include "jit/detect_cpu.h"
#include "jit/load.h"

namespace tunec::bench {
namespace {

/// This thread's processor time: what neighbours on a shared machine take does not count.
double Now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// GFLOP/s of independent FMAs on the widest vectors, for a few milliseconds.
__attribute__((target("avx512f"))) double Peak512() {
  __m512 sums[16];
  for (int i = 0; i < 16; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 a = _mm512_set1_ps(0.999f);
  const __m512 b = _mm512_set1_ps(1e-4f);
  constexpr int kRounds = 50000;
  const double start = Now();
  for (int n = 0; n < kRounds; ++n)
#pragma GCC unroll 16
    for (__m512& sum : sums) {
      sum = _mm512_fmadd_ps(sum, a, b);
      asm volatile("" : "+v"(sum));
    }
  const double seconds = Now() - start;
  return kRounds * 16.0 * 32.0 / seconds / 1e9;
}

__attribute__((target("avx2,fma"))) double Peak256() {
  __m256 sums[12];
  for (int i = 0; i < 12; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 a = _mm256_set1_ps(0.999f);
  const __m256 b = _mm256_set1_ps(1e-4f);
  constexpr int kRounds = 50000;
  const double start = Now();
  for (int n = 0; n < kRounds; ++n)
#pragma GCC unroll 12
    for (__m256& sum : sums) {
      sum = _mm256_fmadd_ps(sum, a, b);
      asm volatile("" : "+v"(sum));
    }
  const double seconds = Now() - start;
  return kRounds * 12.0 * 16.0 / seconds / 1e9;
}

struct Memory {
  explicit Memory(int64_t bytes)
      : bytes_(static_cast<float*>(std::aligned_alloc(64, (bytes + 4159) / 64 * 64)), std::free) {
    float* data = bytes_.get();
    for (int64_t i = 0; i < bytes / 4; ++i) data[i] = static_cast<float>(i % 97) * 0.01f - 0.4f;
  }
  void* data() { return bytes_.get(); }

 private:
  std::unique_ptr<float, void (*)(void*)> bytes_;
};

void Run(const KernelBench& bench, const Target& target) {
  const auto nest = ParseLoopNest(bench.text, bench.name);
  if (!nest) {
    fmt::print("{}: {}\n", bench.name, nest.error().Format());
    return;
  }
  CompileTimes times;
  CompileTimes warm;
  auto object = CompileObject(*nest, target, &times);
  if (object) object = CompileObject(*nest, target, &warm);
  const auto kernel = object ? LoadKernel(*object, PerfMap::kOn) : Result<Kernel>(std::unexpected(object.error()));
  if (!kernel) {
    fmt::print("{}: {}\n", bench.name, kernel.error().Format());
    return;
  }
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<void*> arguments;
  for (const TensorId id : Arguments(*nest)) {
    memory.push_back(std::make_unique<Memory>(StorageElements(nest->tensors[id]) * 4));
    arguments.push_back(memory.back()->data());
  }
  Memory workspace(kernel->workspace_bytes);
  Memory scratch(kernel->scratch_bytes);
  const auto once = [&] {
    for (const KernelPhase& phase : kernel->phases)
      for (int64_t task = 0; task < phase.tasks; ++task)
        phase.function(arguments.data(), workspace.data(), scratch.data(), task);
  };
  once();
  double start = Now();
  once();
  const int calls = std::max(1, static_cast<int>(0.002 / std::max(Now() - start, 1e-7)));
  constexpr int kRepetitions = 21;
  std::vector<double> microseconds;
  std::vector<double> percent;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const double peak = target.vector_bits == 512 ? Peak512() : Peak256();
    start = Now();
    for (int call = 0; call < calls; ++call) once();
    const double seconds = (Now() - start) / calls;
    microseconds.push_back(seconds * 1e6);
    percent.push_back(100 * bench.work / seconds / 1e9 / peak);
  }
  std::ranges::sort(microseconds);
  std::ranges::sort(percent);
  const double median = microseconds[kRepetitions / 2];
  fmt::print("{:28} {:9.1f} us [{:.1f}, {:.1f}]", bench.name, median, microseconds[kRepetitions / 4], microseconds[3 * kRepetitions / 4]);
  if (bench.unit == WorkUnit::kFlops) {
    fmt::print("  {:5.1f} % of peak [{:.1f}, {:.1f}]  {:.1f} GFLOP/s", percent[kRepetitions / 2], percent[kRepetitions / 4], percent[3 * kRepetitions / 4], bench.work / median / 1e3);
  } else {
    fmt::print("  {:.3f} ns an element", median * 1e3 / bench.work);
  }
  fmt::print("  compile {:.1f} + {:.1f} ms\n", warm.emit_ms, warm.codegen_ms);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tunec::bench

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  const std::string cpu = argc > 2 ? argv[2] : "native";
  const auto target = tunec::ParseCpu(cpu, 1);
  if (!target) {
    fmt::print(stderr, "{}\n", target.error().Format());
    return 1;
  }
  fmt::print("{}, {} bits\n", target->cpu, target->vector_bits);
  for (const tunec::bench::KernelBench& bench : tunec::bench::KernelBenches(target->vector_bits))
    if (bench.name.find(wanted) != std::string::npos) tunec::bench::Run(bench, *target);
  return 0;
}
