// A program that measures the cost of each stage of a candidate for an emulated GPU.
//
//   bench_candidates [COUNT] [SIZE]
//
// The COUNT (500) candidates multiply matrices of SIZE x SIZE (512) in float32, each with another
// number of threads per block. They are processed like in the worker: a batch is compiled on two
// threads, then each candidate is checked in the emulation. Prints milliseconds per candidate, and
// the share of each stage in the work of all threads.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "autotune/measure/measure.h"
#include "bench/must.h"
#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "kernel/compile_kernel.h"
#include "runtime/thread_pool.h"
#include "support/stopwatch.h"

namespace tunec::bench {
namespace {

constexpr int kThreads = 2;
constexpr int64_t kBatch = 12;       // value of TunerOptions
constexpr int64_t kTimedAlone = 20;  // candidates whose compilation to PTX is timed alone

Workload ProductOf(int64_t size) {
  const Compute compute = Must(ParseCompute(fmt::format(R"(
    compute product {{
      input A: f32[{0}, {0}]
      weight B: f32[{0}, {0}] constant
      output C: f32[{0}, {0}]
      acc[i: {0}, j: {0}, k: {0} reduction]:
        C[i, j] sum= A[i, k] * B[k, j]
    }})",
                                                        size),
                                            "product"));
  Workload workload{.lowerings = {{"direct", compute}}, .target = DetectCpu(kThreads)};
  workload.target.device = Must(CudaAccelerator("sm_90a"));
  workload.target.device->features.emplace(kEmulated);
  return workload;
}

// Returns a schedule like those of the sketch `blocks`, with 16 + 2 `number` threads per block.
std::string ScheduleOf(int64_t number) {
  return fmt::format(R"(lower direct
cache_write acc
reorder acc.i acc.j
compute_at acc.init acc.j
compute_at acc.store acc.j
fuse acc.i acc.j as acc.flat1
split acc.flat1 {}
stage acc.cache register acc.flat1.1
bind acc.flat1.0 grid.x
bind acc.flat1.1 block.x
)",
                     16 + 2 * number);
}

// The times of all candidates in milliseconds. The times of compilation are sums over the threads.
struct Costs {
  double loops = 0;
  double gpu = 0;       // LLVM and ptxas
  double emulated = 0;  // LLVM for the host
  double compile = 0;   // all stages above, and prediction
  double check = 0;     // wall-clock time: the emulation uses all threads
};

// A clock of the stages of compilation, which sums the times of all candidates. A thread emits the
// code of one candidate at a time: first for the GPU, then for the emulation.
class StageClock {
 public:
  CandidateHook Hook() {
    return [this](LoopPipelineOptions& options, std::string_view) {
      thread_local bool on_gpu = false;
      on_gpu = true;
      options.on_stage = [this](const StageRecord& record, const StageProduct&) {
        const std::lock_guard lock(mutex_);
        if (record.stage != "emit") {
          costs_.loops += record.milliseconds;
          return;
        }
        (on_gpu ? costs_.gpu : costs_.emulated) += record.milliseconds;
        on_gpu = false;
      };
    };
  }
  Costs& costs() { return costs_; }

 private:
  std::mutex mutex_;
  Costs costs_;
};

std::vector<CompiledCandidate> CompileBatch(const Workbench& bench, int64_t begin, int64_t end) {
  std::vector<CompiledCandidate> compiled(static_cast<size_t>(end - begin));
  std::atomic<int64_t> next = begin;
  const auto work = [&] {
    for (int64_t i = next++; i < end; i = next++)
      compiled[static_cast<size_t>(i - begin)] = bench.Compile({ScheduleOf(i)});
  };
  std::jthread other(work);
  work();
  other.join();
  return compiled;
}

// Returns the mean milliseconds that LLVM takes to compile a candidate for the GPU. The text output
// is PTX, for which ptxas does not run.
double MillisecondsOfPtx(const Workload& workload, int64_t candidates) {
  Target gpu = workload.target;
  gpu.device->features.erase(std::string(kEmulated));
  const auto generator = Must(GeneratorFor(gpu));
  double milliseconds = 0;
  for (int64_t i = 0; i < candidates; ++i) {
    const Schedule schedule = Must(ParseSchedule(ScheduleOf(i), "candidate"));
    const KernelLoops loops = Must(RunLoopPipeline(workload.lowerings[0].compute, schedule, {}));
    const LoopNest mapped = Must(generator->MapThreads(loops.nest));
    const Stopwatch watch;
    Must(generator->Show(mapped, gpu, CodeText::kAssembly));
    milliseconds += watch.Milliseconds();
  }
  return milliseconds / static_cast<double>(candidates);
}

void Print(const Costs& costs, double ptx, int64_t count, double seconds) {
  const auto each = [&](double milliseconds) { return milliseconds / static_cast<double>(count); };
  fmt::print("{} candidates in {:.1f} s, {:.1f} ms each\n", count, seconds,
             1e3 * seconds / static_cast<double>(count));
  const double check = each(costs.check) * kThreads;
  const double total = each(costs.compile) + check;
  const auto line = [&](const char* name, double milliseconds) {
    fmt::print("  {:<20} {:8.2f} ms  {:5.1f} %\n", name, milliseconds, 100 * milliseconds / total);
  };
  fmt::print("of the work of {} threads, for a candidate:\n", kThreads);
  line("loops", each(costs.loops));
  line("LLVM, PTX", ptx);
  line("ptxas", each(costs.gpu) - ptx);
  line("LLVM, emulation", each(costs.emulated));
  line("prediction, rest", each(costs.compile - costs.loops - costs.gpu - costs.emulated));
  line("emulation", check);
}

int Run(int64_t count, int64_t size) {
  ThreadPool pool(kThreads);
  const Workload workload = ProductOf(size);
  StageClock clock;
  Workbench bench = Must(Workbench::Make(workload, pool, clock.Hook()));
  Stopwatch watch;
  int64_t wrong = 0;
  for (int64_t begin = 0; begin < count; begin += kBatch) {
    for (CompiledCandidate& candidate :
         CompileBatch(bench, begin, std::min(begin + kBatch, count))) {
      const Measurement result = bench.Measure(std::move(candidate), std::nullopt);
      clock.costs().compile += result.compile_ms;
      clock.costs().check += result.check_ms;
      if (result.status == TrialStatus::kOk) continue;
      ++wrong;
      fmt::print("{}: {}\n", TrialStatusName(result.status), result.message);
    }
  }
  const double seconds = watch.Milliseconds() / 1e3;
  Print(clock.costs(), MillisecondsOfPtx(workload, std::min(kTimedAlone, count)), count, seconds);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tunec::bench

int main(int argc, char** argv) {
  const int64_t count = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 500;
  const int64_t size = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 512;
  if (count < 1 || size < 1) {
    fmt::print("usage: bench_candidates [COUNT] [SIZE]\n");
    return 2;
  }
  return tunec::bench::Run(count, size);
}
