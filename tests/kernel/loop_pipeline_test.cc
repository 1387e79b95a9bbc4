// Tests of the stages from a schedule to code. Each stage is reported, timed and verified. A broken
// result is detected after its stage, or at the latest before code generation.
#include "kernel/loop_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jit/cpu/detect_cpu.h"
#include "kernel/compile_kernel.h"
#include "tests/programs/products.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kProgram = ProductText({.right = {.weight = "constant"}, .value = ""});
constexpr std::string_view kSteps = "pack B 0 1\nsplit acc.i 8\nparallelize acc.i.0\n";

KernelOptions Options() {
  return {.target = DetectCpu(1), .loops = {.verify = VerifyStages::kEach}};
}

Result<CompiledKernel> Compiled(const KernelOptions& options, std::string_view steps = kSteps) {
  return CompileKernel(MustParse(kProgram), MustParseSteps(steps), options);
}

TEST(LoopPipeline, LoopsAreCompiledByThemselves) {
  const KernelOptions options = Options();
  const auto whole = Compiled(options);
  ASSERT_TRUE(whole) << whole.error().Format();
  const auto loops = RunLoopPipeline(MustParse(kProgram), MustParseSteps(kSteps), options.loops);
  ASSERT_TRUE(loops) << loops.error().Format();
  EXPECT_TRUE(CheckFits(*loops, options.target));
  const auto compiled = CompileLoops(*loops, options);
  ASSERT_TRUE(compiled) << compiled.error().Format();
  EXPECT_EQ(*compiled, *whole);
  EXPECT_TRUE(whole->work.empty());  // not computed for a host
}

TEST(LoopPipeline, TellsOfEveryStageInOrder) {
  KernelOptions options = Options();
  std::vector<std::string> kernel;
  std::vector<std::string> prepack;
  options.loops.on_stage = [&](const StageRecord& record, const StageProduct& product) {
    EXPECT_GE(record.milliseconds, 0);
    EXPECT_THAT(Print(product), HasSubstr(record.name == "product" ? "acc" : "B.pack"));
    (record.name == "product" ? kernel : prepack).emplace_back(record.stage);
  };
  const auto compiled = Compiled(options);
  ASSERT_TRUE(compiled) << compiled.error().Format();
  EXPECT_THAT(kernel,
              ElementsAre("compute_steps", "loop_steps", "check_legality", "generate_loops",
                          "check_tiles", "insert_barriers", "map_threads", "join_tasks", "emit"));
  EXPECT_THAT(prepack, ElementsAre("loop_steps", "check_legality", "generate_loops", "check_tiles",
                                   "insert_barriers", "map_threads", "join_tasks", "emit"));
  std::vector<std::string> names;
  for (const LoopStage& stage : LoopStages("cpu")) names.emplace_back(stage.name);
  EXPECT_EQ(names, kernel);
}

// Applies `breaks` to the result of the stage. Returns the compilation's error, or "nobody minds"
// if the kernel is compiled.
std::string ErrorOfBroken(std::string_view stage, VerifyStages verify,
                          const std::function<void(const MutableStageProduct&)>& breaks) {
  KernelOptions options = Options();
  options.loops.verify = verify;
  bool broken = false;
  options.loops.plant = [&](const StageRecord& record, const MutableStageProduct& product) {
    if (record.stage != stage || record.name != "product") return;
    breaks(product);
    broken = true;
  };
  const auto compiled = Compiled(options);
  EXPECT_TRUE(broken) << stage;
  if (compiled) return "nobody minds";
  EXPECT_EQ(compiled.error().code, ErrorCode::kInternal);
  return compiled.error().message;
}

void BreakCompute(const MutableStageProduct& product) {
  Compute& compute = *std::get<Compute*>(product);
  compute.statements.back().writes[0].index.pop_back();
}

void BreakTree(const MutableStageProduct& product) {
  ScheduleTree& tree = *std::get<ScheduleTree*>(product);
  tree.inverse.back().pop_back();
}

void BreakLoops(const MutableStageProduct& product) {
  LoopNest& nest = *std::get<LoopNest*>(product);
  Loop& outer = std::get<Loop>(nest.phases.back().body.front().value);
  outer.lower.clear();
}

void BreakBarriers(const MutableStageProduct& product) {
  LoopNest& nest = *std::get<LoopNest*>(product);
  Loop& outer = std::get<Loop>(nest.phases.back().body.front().value);
  ASSERT_EQ(outer.kind, LoopKind::kParallel);
  outer.kind = LoopKind::kVector;
}

void BreakThreads(const MutableStageProduct& product) {
  LoopNest& nest = *std::get<LoopNest*>(product);
  nest.phases.back().body.emplace_back(Barrier{});
  Loop& outer = std::get<Loop>(nest.phases.back().body.front().value);
  outer.body.emplace_back(Barrier{});
}

TEST(LoopPipeline, ABrokenComputeIsCaughtWhereItWasBroken) {
  EXPECT_THAT(ErrorOfBroken("compute_steps", VerifyStages::kEach, BreakCompute),
              StartsWith("stage compute_steps: "));
}

TEST(LoopPipeline, ABrokenTreeIsCaughtWhereItWasBroken) {
  EXPECT_THAT(ErrorOfBroken("loop_steps", VerifyStages::kEach, BreakTree),
              StartsWith("stage loop_steps: "));
}

TEST(LoopPipeline, BrokenLoopsAreCaughtWhereTheyWereBroken) {
  EXPECT_THAT(ErrorOfBroken("generate_loops", VerifyStages::kEach, BreakLoops),
              StartsWith("stage generate_loops: "));
  EXPECT_THAT(ErrorOfBroken("insert_barriers", VerifyStages::kEach, BreakBarriers),
              StartsWith("stage insert_barriers: "));
  EXPECT_THAT(ErrorOfBroken("map_threads", VerifyStages::kEach, BreakThreads),
              StartsWith("stage map_threads: "));
}

TEST(LoopPipeline, NothingBrokenIsCompiled) {
  EXPECT_THAT(ErrorOfBroken("generate_loops", VerifyStages::kLast, BreakLoops),
              StartsWith("stage map_threads: "));
  EXPECT_THAT(ErrorOfBroken("insert_barriers", VerifyStages::kLast, BreakBarriers),
              StartsWith("stage map_threads: "));
  EXPECT_THAT(ErrorOfBroken("map_threads", VerifyStages::kLast, BreakThreads),
              StartsWith("stage emit: "));
  EXPECT_EQ(Compiled(Options()).has_value(), true);
}

// With acc.k in parallel, tasks could add to one element at the same time.
TEST(LoopPipeline, WhatIsNotLegalIsRejectedOrReported) {
  const Schedule schedule = MustParseSteps("reorder acc.k acc.i acc.j\nparallelize acc.k");
  const auto rejected = RunLoopPipeline(MustParse(kProgram), schedule, {ReductionOrder::kAny});
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, ErrorCode::kIllegalSchedule);
  const auto reported =
      RunLoopPipeline(MustParse(kProgram), schedule,
                      {.rounding = ReductionOrder::kAny, .legality = Legality::kReport});
  ASSERT_TRUE(reported) << reported.error().Format();
  ASSERT_TRUE(reported->rejection);
  EXPECT_EQ(reported->rejection->message, rejected.error().message);
  EXPECT_FALSE(reported->nest.phases.empty());
}

TEST(LoopPipeline, TheContractDecidesWhetherProductsAreFused) {
  for (const ReductionOrder order : {ReductionOrder::kAny, ReductionOrder::kAsWritten}) {
    const auto loops = RunLoopPipeline(MustParse(kProgram), MustParseSteps(kSteps), {order});
    ASSERT_TRUE(loops) << loops.error().Format();
    const bool fused = order == ReductionOrder::kAny;
    EXPECT_EQ(loops->nest.contraction, fused ? Contraction::kFused : Contraction::kSeparate);
  }
}

}  // namespace
}  // namespace tunec::test
