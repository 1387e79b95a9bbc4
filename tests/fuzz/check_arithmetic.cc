#include "tests/fuzz/check_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>

#include "autotune/checker/kernel_reference.h"
#include "graph/fuse/store_as_bf16.h"
#include "graph/passes/pipeline.h"
#include "jit/cpu/detect_cpu.h"
#include "kernel/loop_pipeline.h"
#include "schedule/sketches/dot_plan.h"
#include "tests/fuzz/run_groups.h"
#include "tests/fuzz/run_schedule.h"
#include "tests/graph/fuse_groups.h"
#include "tests/schedule/loops_of.h"

namespace tunec::fuzz {
namespace {

// Returns the key of the schedule's kernel in ArithmeticResult::kernels.
std::string ArithmeticOf(const Schedule& schedule) {
  const std::string text = Print(schedule);
  if (schedule.lowering == "winograd,tile=4") return "winograd4";
  if (schedule.lowering == "winograd") return "winograd";
  if (schedule.lowering.starts_with("streaming")) return "stream";
  if (text.contains("dpbf16")) return "dpbf16";
  if (!text.contains("amx")) return "fma";
  const size_t precision = text.find("precision ");
  if (precision == std::string::npos) return "amx";
  return fmt::format("amx {} terms", text[text.find(" bf16 ", precision) + 6]);
}

class Checker {
 public:
  Checker(const ContractionCase& contraction, const Accuracy& schedules, Target target)
      : case_(contraction),
        schedules_(schedules),
        target_(std::move(target)),
        random_(StreamSeed(contraction.seed, "schedules")) {}

  ArithmeticResult Run() {
    PipelineOptions options;
    options.names = DefaultPipeline();
    const auto optimised = RunPipeline(case_.graph, options);
    if (!optimised) return Wrong("passes", optimised.error().Format());
    // With the default machine, some images this small would not be fused into chains.
    const FusionMachine slow{.bytes_per_second = 1e6, .launch_seconds = 1e-3};
    auto fusion = PlanFusion(optimised->graph, FusionMode::kFused, slow);
    if (!fusion) return Wrong("fusion", fusion.error().Format());
    if (CanRoundToBf16(RoundingFreedomFor(schedules_), target_))
      StoreAsBf16(optimised->graph, *fusion);
    const auto outputs =
        RunGroups(optimised->graph, *fusion, case_.inputs,
                  [&](size_t, const std::vector<Lowering>& lowerings,
                      std::span<const Array> arguments) { return Group(lowerings, arguments); });
    if (!outputs) return Wrong("group", outputs.error().Format());
    return std::move(result_);
  }

 private:
  ArithmeticResult Wrong(std::string_view stage, const std::string& reason) {
    result_.result = {Outcome::kWrong, fmt::format("{}: {}", stage, reason)};
    return std::move(result_);
  }

  // Checks kernels of the group. Returns the results of the sequential evaluation of the group.
  Result<std::vector<Array>> Group(const std::vector<Lowering>& lowerings,
                                   std::span<const Array> arguments) {
    const std::vector<NamedCompute> named = Named(lowerings);
    TUNEC_ASSIGN(
        const KernelReference reference,
        ComputeKernelReferenceFor(named.front().compute, {arguments.begin(), arguments.end()},
                                  case_.accuracy, target_, Pool()));
    for (const Sketch& sketch : Choose(named)) {
      for (const Decisions& decisions :
           {sketch.InitialDecisions(), RandomDecisions(sketch, random_)}) {
        const int before = Ran();
        TUNEC_RETURN_IF_ERROR(Try(sketch.Fill(decisions), named, reference));
        if (Ran() > before) ++result_.sketches[sketch.name];
      }
    }
    std::vector<Array> outputs;
    for (const tunec::OutputChecker& checker : reference.checkers)
      outputs.push_back(checker.sequential);
    return outputs;
  }

  int Ran() const {
    int count = 0;
    for (const auto& [arithmetic, times] : result_.kernels) count += times;
    return count;
  }

  // Returns one or two random sketches. The first has an arithmetic other than fma, if a sketch has
  // one with initial decisions. The naive sketch is only returned if it is the only one.
  std::vector<Sketch> Choose(const std::vector<NamedCompute>& named) {
    std::vector<Sketch> all = SketchesFor({.lowerings = named,
                                           .target = target_,
                                           .rounding = RoundingFreedomFor(schedules_),
                                           .gain = [](const TileIntrinsic&) { return 16.0; }});
    if (all.size() > 1) all.pop_back();
    for (size_t i = 0; i < all.size(); ++i)
      std::swap(all[i], all[i + random_.Below(all.size() - i)]);
    std::ranges::stable_partition(all, [](const Sketch& sketch) {
      return ArithmeticOf(sketch.Fill(sketch.InitialDecisions())) != "fma";
    });
    if (all.size() <= 2) return all;
    return {all.front(), all.back()};
  }

  Status Try(const Schedule& schedule, const std::vector<NamedCompute>& named,
             const KernelReference& reference) {
    const Compute& compute = *FindLowering(named, schedule.lowering);
    const auto kernel = test::LoopsOf(compute, schedule, RoundingFreedomFor(schedules_));
    if (!kernel) {
      if (MayReject(kernel.error().code)) return {};
      return Broken(schedule, kernel.error().Format());
    }
    const auto outputs = RunScheduled(*kernel, compute, reference.arguments, target_);
    if (!outputs) return Broken(schedule, outputs.error().Format());
    ++result_.kernels[ArithmeticOf(schedule)];
    // Infinite results may be NaN in this lowering (docs/decisions/0022_winograd.md).
    if (schedule.lowering.starts_with("winograd") && case_.operands == Operands::kSpecial)
      return {};
    const Verdict verdict = CheckOutputs(*outputs, reference.checkers);
    if (verdict.problem.empty() || IsLeftToTheChecker(schedule, verdict, reference)) return {};
    return Broken(schedule, verdict.problem);
  }

  // Returns true if the kernel rounds operands, and its error is above the tolerance by at most a
  // factor of 4. Winograd's transforms about double the error of rounded operands. In the tuner,
  // the checker accepts or rejects the kernel (docs/decisions/0024_values_stored_as_bf16_parts.md).
  static bool IsLeftToTheChecker(const Schedule& schedule, const Verdict& verdict,
                                 const KernelReference& reference) {
    constexpr double kEnlarged = 4;
    const bool rounds = std::ranges::any_of(schedule.compute_steps, [](const ComputeStep& step) {
      return std::holds_alternative<NarrowStep>(step);
    });
    const double allowed = reference.checkers.front().allowed;
    return rounds && verdict.e > allowed && verdict.e <= kEnlarged * allowed;
  }

  std::unexpected<Error> Broken(const Schedule& schedule, const std::string& problem) const {
    return Fail(ErrorCode::kWrongResult, "{}: {}\n{}", ArithmeticOf(schedule), problem,
                Print(schedule));
  }

  const ContractionCase& case_;
  const Accuracy& schedules_;
  const Target target_;
  Random random_;
  ArithmeticResult result_;
};

}  // namespace

ArithmeticResult CheckArithmetic(const ContractionCase& contraction, const Accuracy& schedules) {
  const auto target = ParseCpu(contraction.cpu, kThreads);
  if (!target) return {{Outcome::kRejected, target.error().Format()}, {}};
  return Checker(contraction, schedules, *target).Run();
}

}  // namespace tunec::fuzz
