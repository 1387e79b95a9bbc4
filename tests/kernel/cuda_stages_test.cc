// Tests of the stages that only kernels for NVIDIA GPUs have: each is reported, verified, and has
// the results of the stages before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/nest/rewrite_loop_nest.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "kernel/compile_kernel.h"
#include "support/file.h"
#include "tests/kernel/device_harness.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

struct Example {
  std::string name;     // name of a schedule in examples/loops
  std::string compute;  // the folder's Compute with sizes for one block of threads
};

constexpr std::string_view kTensorCores = R"(
compute matmul {
  input A: bf16[64, 64]
  input B: bf16[64, 64]
  output C: f32[64, 64]
  workspace acc: f32[64, 64]
  acc[i: 64, j: 64, k: 64 reduction]:
    acc[i, j] sum= f32(A[i, k]) * f32(B[k, j])
  C[i: 64, j: 64]:
    C[i, j] = max(acc[i, j], 0.0)
})";

constexpr std::string_view kAsync = R"(
compute matmul {
  input A: f32[32, 128]
  input B: f32[128, 32]
  output C: f32[32, 32]
  workspace acc: f32[32, 32]
  acc[i: 32, j: 32, k: 128 reduction]:
    acc[i, j] sum= A[i, k] * B[k, j]
  C[i: 32, j: 32]:
    C[i, j] = max(acc[i, j], 0.0)
})";

std::vector<Example> Examples() {
  return {{"tensor_cores", std::string(kTensorCores)}, {"matmul_async", std::string(kAsync)}};
}

KernelOptions OptionsForEmulation() {
  KernelOptions options{.target = Gpu("sm_80"), .loops = {.verify = VerifyStages::kEach}};
  options.target.device->features.insert(std::string(kEmulated));
  return options;
}

Result<CompiledKernel> CompileExample(const Example& example, const KernelOptions& options) {
  const std::string path =
      std::string(TUNEC_TEST_DATA) + "/../examples/loops/" + example.name + ".sched";
  TUNEC_ASSIGN(const std::string steps, ReadFile(path));
  TUNEC_ASSIGN(const Schedule schedule, ParseSchedule(steps, path));
  return CompileKernel(MustParse(example.compute), schedule, options);
}

class CudaStages : public testing::TestWithParam<Example> {};

TEST_P(CudaStages, AreReportedAndRetainTheResults) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not know the emulation's stacks";
  const ScheduleChecker checker(MustParse(GetParam().compute));
  std::vector<std::string> names;
  KernelOptions options = OptionsForEmulation();
  options.loops.on_stage = [&](const StageRecord& record, const StageProduct& product) {
    names.emplace_back(record.stage);
    const auto* nest = std::get_if<const LoopNest*>(&product);
    const bool lacks_barriers = record.stage == "generate_loops" || record.stage == "check_tiles";
    if (nest == nullptr || lacks_barriers || record.stage == "emit") return;
    EXPECT_TRUE(Verify(**nest)) << record.stage << ": " << Verify(**nest).error().message;
    EXPECT_EQ(checker.Disagreement({.nest = **nest}), "") << record.stage << "\n" << Print(**nest);
  };
  const auto compiled = CompileExample(GetParam(), options);
  ASSERT_TRUE(compiled) << compiled.error().Format();
  EXPECT_THAT(names,
              ElementsAre("compute_steps", "loop_steps", "check_legality", "generate_loops",
                          "check_tiles", "insert_barriers", "replace_copies", "split_copies",
                          "assign_threads", "cut_private_dimensions", "privatize_threads", "emit"));
  std::vector<std::string> table;
  for (const LoopStage& stage : LoopStages("cuda")) table.emplace_back(stage.name);
  EXPECT_EQ(names, table);
}

INSTANTIATE_TEST_SUITE_P(Examples, CudaStages, testing::ValuesIn(Examples()),
                         [](const auto& info) { return info.param.name; });

// Makes the tensors of each thread tensors of the whole block.
void BreakStorage(LoopNest& nest) {
  nest = Rewrite(std::move(nest), [](Alloc alloc) {
    alloc.per_thread = false;
    return alloc;
  });
}

std::string ErrorOfBrokenStorage(VerifyStages verify) {
  KernelOptions options = OptionsForEmulation();
  options.loops.verify = verify;
  options.loops.plant = [](const StageRecord& record, const MutableStageProduct& product) {
    if (record.stage == "privatize_threads") BreakStorage(*std::get<LoopNest*>(product));
  };
  const auto compiled = CompileExample(Examples().front(), options);
  return compiled ? "" : compiled.error().message;
}

TEST(BrokenCudaStages, AreNotCompiled) {
  EXPECT_THAT(ErrorOfBrokenStorage(VerifyStages::kEach), StartsWith("stage privatize_threads: "));
  EXPECT_THAT(ErrorOfBrokenStorage(VerifyStages::kLast), StartsWith("stage emit: "));
}

}  // namespace
}  // namespace tunec::test
