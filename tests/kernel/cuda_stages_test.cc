// Tests of the stages that only kernels for NVIDIA GPUs have. Each stage is reported, and makes a
// valid nest with the results of the Compute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/nest/rewrite_loop_nest.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "kernel/compile_kernel.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/examples.h"
#include "tests/programs/products.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

struct Example {
  std::string name;     // name of a schedule in examples/loops
  std::string compute;  // the schedule's Compute with sizes for one block of threads
};

std::vector<Example> Examples() {
  const ProductOperand bf16 = {.type = "bf16"};
  return {{"tensor_cores",
           ProductText({.rows = 64, .columns = 64, .length = 64, .left = bf16, .right = bf16})},
          {"matmul_async", ProductText({.rows = 32, .columns = 32, .length = 128})}};
}

KernelOptions OptionsForEmulation() {
  KernelOptions options{.target = Gpu("sm_80"), .loops = {.verify = VerifyStages::kEach}};
  options.target.device->features.insert(std::string(kEmulated));
  return options;
}

Result<CompiledKernel> CompileExample(const Example& example, const KernelOptions& options) {
  const std::string file = example.name + ".sched";
  TUNEC_ASSIGN(const Schedule schedule, ParseSchedule(ReadExample(file), file));
  return CompileKernel(MustParse(example.compute), schedule, options);
}

class CudaStages : public testing::TestWithParam<Example> {};

TEST_P(CudaStages, AreReportedAndRetainTheResults) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
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

// Turns the tensors of each thread into tensors of the whole block, which is a fault.
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
