// bench_cuda_compile MODEL ARCH [CANDIDATES]: compiles a model's kernels for a GPU architecture and
// reports times and results. Needs ptxas and no GPU. Prints one JSON object per line:
//
//     {"group", "kernel", "sketch", "refused": N, "loops_ms", "llvm_ms", "ptxas_ms",
//      "functions": [{"symbol", "registers", "spilled_bytes", "local_bytes", "shared_bytes"}]}
//
// for each distinct kernel, with the first schedule that compiles, in the order of a compilation of
// the model without a database. `refused` counts the rejected schedules. A kernel without a valid
// schedule has "error" instead of times and functions. With CANDIDATES, tries up to that many
// random schedules of each kernel. These lines lack `refused`; schedules that do not compile have
// "error".
//
// `loops_ms` is the time of schedule steps, legality and loops. `llvm_ms` is that of LLVM IR and
// PTX. `ptxas_ms` is the remaining time of EmitImage: ptxas and its files.
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "autotune/accuracy.h"
#include "autotune/best_schedule.h"
#include "autotune/search/history.h"
#include "autotune/search/search_space.h"
#include "autotune/search/strategy.h"
#include "bench/must.h"
#include "compiler/options/settings.h"
#include "compiler/tuning/tasks.h"
#include "kernel/compile_kernel.h"
#include "support/random.h"
#include "support/stopwatch.h"

namespace tunec::bench {
namespace {

using Json = nlohmann::ordered_json;

Json FunctionJson(const PhaseLaunch& launch) {
  return {{"symbol", launch.symbol},
          {"registers", launch.registers},
          {"spilled_bytes", launch.spilled_bytes},
          {"local_bytes", launch.local_bytes},
          {"shared_bytes", launch.shared_bytes}};
}

/// Compiles a kernel, and adds the times and functions to `row`. Errors: of RunLoopPipeline,
/// EmitText and EmitImage.
Status CompileInto(Json& row, const Compute& compute, const Schedule& schedule,
                   const CompileOptions& options) {
  Stopwatch watch;
  TUNEC_ASSIGN(
      const KernelLoops loops,
      RunLoopPipeline(compute, schedule, {.rounding = RoundingFreedomFor(options.accuracy)}));
  const double loops_ms = watch.Lap();
  const auto emit = [&] { return EmitText(loops.nest, options.target, CodeText::kAssembly); };
  static const Result<std::string> first = emit();  // LLVM's initialization counts for no kernel
  watch.Lap();
  if (const Result<std::string> ptx = emit(); !ptx) return std::unexpected(ptx.error());
  const double llvm_ms = watch.Lap();
  TUNEC_ASSIGN(const KernelImage image, EmitImage(loops.nest, options.target));
  row["loops_ms"] = loops_ms;
  row["llvm_ms"] = llvm_ms;
  row["ptxas_ms"] = watch.Lap() - llvm_ms;
  for (const PhaseLaunch& launch : image.phases) row["functions"].push_back(FunctionJson(launch));
  return {};
}

void PrintRow(const Json& row) { fmt::print("{}\n", row.dump()); }

/// Prints the row of the first schedule that compiles, or of the last error. The schedules are
/// tried in the order of BuildKernel (compiler/kernel_build.h).
void PrintBest(Json row, const TuningTask& task, const CompileOptions& options,
               const TunerOptions& tuner) {
  ScheduleRanking ranking = Must(ScheduleRanking::Of(nullptr, task, tuner));
  row["refused"] = 0;
  std::string last;
  while (const auto candidate = ranking.Next()) {
    const Compute* const compute = FindLowering(task.lowerings, candidate->schedule.lowering);
    row["sketch"] = candidate->sketch;
    const Status compiled = CompileInto(row, *compute, candidate->schedule, options);
    if (compiled) return PrintRow(row);
    row["refused"] = row["refused"].get<int>() + 1;
    last = compiled.error().message;
    if (compiled.error().code == ErrorCode::kInternal) break;
  }
  row["error"] = last;
  PrintRow(row);
}

void PrintCandidates(const Json& kernel, const TuningTask& task, const CompileOptions& options,
                     int count) {
  const SearchSpace space(SketchesFor({.lowerings = task.lowerings,
                                       .target = options.target,
                                       .rounding = RoundingFreedomFor(options.accuracy)}));
  Random random(options.seed);
  for (const Candidate& candidate :
       MakeRandomStrategy()->Propose(space, History(), count, random)) {
    Json row = kernel;
    row["sketch"] = space.sketches()[static_cast<size_t>(candidate.sketch)].name;
    const Schedule schedule = Must(ParseSchedule(candidate.schedule, "candidate"));
    const Compute* const compute = FindLowering(task.lowerings, schedule.lowering);
    const Status compiled = CompileInto(row, *compute, schedule, options);
    if (!compiled) row["error"] = compiled.error().message;
    PrintRow(row);
  }
}

int Main(const std::string& path, const std::string& arch, int candidates) {
  Settings settings;
  settings.target = "cuda";
  settings.arch = arch;
  const CompileOptions options = Must(MakeCompileOptions(settings));
  const FrontReport front = Must(RunFrontEnd(Must(LoadModel(path, settings)), options));
  const ModelTasks tasks = CollectTasks(front, options.target);
  const TunerOptions tuner{.target = options.target, .accuracy = options.accuracy};
  for (size_t group = 0, seen = 0; group < tasks.of_group.size(); ++group) {
    if (tasks.of_group[group] != seen) continue;  // an equal group was printed before
    const TuningTask& task = tasks.unique[seen++];
    const Json kernel = {{"group", group}, {"kernel", task.description}};
    if (candidates > 0) {
      PrintCandidates(kernel, task, options, candidates);
    } else {
      PrintBest(kernel, task, options, tuner);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tunec::bench

// NOLINTNEXTLINE(bugprone-exception-escape): an exception ends the program, like errors in Must.
int main(int argc, char** argv) {
  if (argc == 3 || argc == 4) {
    return tunec::bench::Main(argv[1], argv[2],
                              argc == 4 ? static_cast<int>(std::strtol(argv[3], nullptr, 10)) : 0);
  }
  fmt::print(stderr, "usage: bench_cuda_compile MODEL ARCH [CANDIDATES]\n");
  return 2;
}
