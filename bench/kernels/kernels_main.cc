// A program that times hand-written LoopNests on one thread. Matrix products and convolutions are
// compared with a burst of FMA instructions, measured before each repetition. The results show the
// quality of the code generator without schedules or runtime.
//
//     bench_kernels [only names containing this] [CPU]
//
// Prints for each kernel the median and the quartiles of the processor time of a call, over 21
// repetitions. Adds percent of the measured peak and GFLOP/s, or nanoseconds per element; then the
// compile time.
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
#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/load.h"

namespace tunec::bench {
namespace {

/// Returns this thread's processor time in seconds. It excludes other programs on a shared machine.
double Now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr int64_t kBurstRounds = 50000;

/// Measures and returns the GFLOP/s of FMAs with 12 independent accumulators of 16 lanes. One asm
/// block prevents the compiler from spilling registers.
double Peak512() {
  const float a = 0.999f;
  const float b = 1e-4f;
  int64_t rounds = kBurstRounds;
  const double start = Now();
  asm volatile(
      "vbroadcastss %1, %%zmm14\n"
      "vbroadcastss %2, %%zmm15\n"
      "vxorps %%zmm0, %%zmm0, %%zmm0\n"
      "vxorps %%zmm1, %%zmm1, %%zmm1\n"
      "vxorps %%zmm2, %%zmm2, %%zmm2\n"
      "vxorps %%zmm3, %%zmm3, %%zmm3\n"
      "vxorps %%zmm4, %%zmm4, %%zmm4\n"
      "vxorps %%zmm5, %%zmm5, %%zmm5\n"
      "vxorps %%zmm6, %%zmm6, %%zmm6\n"
      "vxorps %%zmm7, %%zmm7, %%zmm7\n"
      "vxorps %%zmm8, %%zmm8, %%zmm8\n"
      "vxorps %%zmm9, %%zmm9, %%zmm9\n"
      "vxorps %%zmm10, %%zmm10, %%zmm10\n"
      "vxorps %%zmm11, %%zmm11, %%zmm11\n"
      ".p2align 5\n"
      "1:\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm0\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm1\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm2\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm3\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm4\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm5\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm6\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm7\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm8\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm9\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm10\n"
      "vfmadd213ps %%zmm15, %%zmm14, %%zmm11\n"
      "dec %0\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : "+r"(rounds)
      : "m"(a), "m"(b)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm14", "xmm15");
  return static_cast<double>(kBurstRounds) * 12 * 32 / (Now() - start) / 1e9;
}

double Peak256() {
  const float a = 0.999f;
  const float b = 1e-4f;
  int64_t rounds = kBurstRounds;
  const double start = Now();
  asm volatile(
      "vbroadcastss %1, %%ymm14\n"
      "vbroadcastss %2, %%ymm15\n"
      "vxorps %%ymm0, %%ymm0, %%ymm0\n"
      "vxorps %%ymm1, %%ymm1, %%ymm1\n"
      "vxorps %%ymm2, %%ymm2, %%ymm2\n"
      "vxorps %%ymm3, %%ymm3, %%ymm3\n"
      "vxorps %%ymm4, %%ymm4, %%ymm4\n"
      "vxorps %%ymm5, %%ymm5, %%ymm5\n"
      "vxorps %%ymm6, %%ymm6, %%ymm6\n"
      "vxorps %%ymm7, %%ymm7, %%ymm7\n"
      "vxorps %%ymm8, %%ymm8, %%ymm8\n"
      "vxorps %%ymm9, %%ymm9, %%ymm9\n"
      "vxorps %%ymm10, %%ymm10, %%ymm10\n"
      "vxorps %%ymm11, %%ymm11, %%ymm11\n"
      ".p2align 5\n"
      "1:\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm0\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm1\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm2\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm3\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm4\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm5\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm6\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm7\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm8\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm9\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm10\n"
      "vfmadd213ps %%ymm15, %%ymm14, %%ymm11\n"
      "dec %0\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : "+r"(rounds)
      : "m"(a), "m"(b)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm14", "xmm15");
  return static_cast<double>(kBurstRounds) * 12 * 16 / (Now() - start) / 1e9;
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
  const auto generator = GeneratorFor(target);
  const auto compile = [&]() -> Result<KernelImage> {
    if (!generator) return std::unexpected(generator.error());
    return (*generator)->Compile(*nest, target);
  };
  Result<KernelImage> object = compile();
  if (object) object = compile();
  const double before = Now();
  if (object) object = compile();
  const double compile_seconds = Now() - before;
  const auto kernel =
      object ? LoadKernel(*object, PerfMap::kOn) : Result<Kernel>(std::unexpected(object.error()));
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
    const double peak = target.host.vector_bits == 512 ? Peak512() : Peak256();
    start = Now();
    for (int call = 0; call < calls; ++call) once();
    const double seconds = (Now() - start) / calls;
    microseconds.push_back(seconds * 1e6);
    percent.push_back(100 * bench.work / seconds / 1e9 / peak);
  }
  std::ranges::sort(microseconds);
  std::ranges::sort(percent);
  const double median = microseconds[kRepetitions / 2];
  fmt::print("{:28} {:9.1f} us [{:.1f}, {:.1f}]", bench.name, median,
             microseconds[kRepetitions / 4], microseconds[3 * kRepetitions / 4]);
  if (bench.unit == WorkUnit::kFlops) {
    fmt::print("  {:5.1f} % of peak [{:.1f}, {:.1f}]  {:.1f} GFLOP/s", percent[kRepetitions / 2],
               percent[kRepetitions / 4], percent[3 * kRepetitions / 4], bench.work / median / 1e3);
  } else {
    fmt::print("  {:.3f} ns an element", median * 1e3 / bench.work);
  }
  fmt::print("  compile {:.1f} ms\n", compile_seconds * 1e3);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tunec::bench

int main(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  const std::string cpu = argc > 2 ? argv[2] : "native";
  const auto target = tunec::ParseCpu(cpu, 1);
  if (!target) {
    fmt::print(stderr, "{}\n", target.error().Format());
    return 1;
  }
  fmt::print("{}, {} bits\n", target->host.cpu, target->host.vector_bits);
  for (const tunec::bench::KernelBench& bench :
       tunec::bench::KernelBenches(target->host.vector_bits))
    if (bench.name.contains(filter)) tunec::bench::Run(bench, *target);
  return 0;
}
