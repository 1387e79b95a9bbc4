// Tests of schedules whose products run on tensor cores. Loops run in the interpreter, and as GPU
// kernels in the checked emulation if the build supports it. Wrong uses of lanes are illegal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "kernel/run_once.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/programs/examples.h"
#include "tests/programs/products.h"
#include "tests/programs/replaced.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {
namespace {

using ::testing::HasSubstr;

Target EmulatedGpu() {
  Target target = DetectCpu(2);
  target.device = *CudaAccelerator("sm_80");
  target.device->features.insert({std::string(kEmulated), std::string(kChecked)});
  return target;
}

// Returns the first error or difference of the parser, pipeline, interpreter or emulation, or "".
std::string Outcome(const std::string& compute, const std::string& steps,
                    const RoundingFreedom& rounding) {
  const ScheduleChecker checker(MustParse(compute));
  const auto schedule = ParseSchedule(steps, "steps");
  if (!schedule) return schedule.error().Format();
  const auto kernel = LoopsOf(checker.compute(), *schedule, rounding);
  if (!kernel) return kernel.error().message;
  const std::string interpreted = checker.Disagreement(*kernel);
  if (!interpreted.empty() || !kEmulates) return interpreted;
  ThreadPool pool(2);
  return checker.Disagreement(*kernel, [&](const LoopNest& nest, const std::vector<Array>& arrays) {
    return CompileAndRun(nest, arrays, EmulatedGpu(), pool);
  });
}

std::string ExampleWith(const std::string& what, const std::string& by) {
  return Outcome(ReadExample("tensor_cores.compute"),
                 ReplacedOnce(ReadExample("tensor_cores.sched"), what, by), ReductionOrder::kAny);
}

TEST(WarpTileSchedules, MultiplyBlocks) {
  EXPECT_EQ(Outcome(ReadExample("tensor_cores.compute"), ReadExample("tensor_cores.sched"),
                    ReductionOrder::kAny),
            "");
}

TEST(WarpTileSchedules, AreCodeForEveryArch) {
  const auto schedule = ParseSchedule(ReadExample("tensor_cores.sched"), "example");
  ASSERT_TRUE(schedule) << schedule.error().Format();
  const auto kernel = LoopsOf(ExampleCompute("tensor_cores"), *schedule, ReductionOrder::kAny);
  ASSERT_TRUE(kernel) << kernel.error().message;
  for (const std::string arch : {"sm_80", "sm_86", "sm_90a", "sm_100"}) {
    const Target target = {.device = *CudaAccelerator(arch)};
    const auto generator = GeneratorFor(target);
    ASSERT_TRUE(generator) << generator.error().message;
    const LoopNest mapped = *(*generator)->MapThreads(kernel->nest);
    const auto ptx = (*generator)->Show(mapped, target, CodeText::kAssembly);
    ASSERT_TRUE(ptx) << arch << ": " << ptx.error().message;
    EXPECT_THAT(*ptx, HasSubstr("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"));
    EXPECT_THAT(*ptx, HasSubstr("ldmatrix.sync.aligned.m8n8.x4.shared.b16"));
    EXPECT_THAT(*ptx, HasSubstr("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16"));
    if (!test::WhyNoPtxas().empty()) continue;
    const auto image = (*generator)->Compile(mapped, target);
    ASSERT_TRUE(image) << arch << ": " << image.error().message;
    EXPECT_EQ(image->phases[0].block, (std::array<int64_t, 3>{32, 2, 2}));
    EXPECT_EQ(image->phases[0].spilled_bytes, 0);
    EXPECT_EQ(image->phases[0].local_bytes, 0);
  }
}

TEST(WarpTileSchedules, AreNotSumsAsWritten) {
  EXPECT_EQ(Outcome(ReadExample("tensor_cores.compute"), ReadExample("tensor_cores.sched"),
                    ReductionOrder::kAsWritten),
            "tensorize acc.i.3 mma.m16n8k16.bf16: sums must be accumulated as written");
}

TEST(WarpTileSchedules, AreIllegalWhereAnotherLaneHasTheElement) {
  // acc.init gives the lanes other elements than the instruction does.
  EXPECT_THAT(ExampleWith("fuse acc.init.i.3.1 acc.init.j.3.0 as acc.init.lane",
                          "reorder acc.init.j.3.0 acc.init.i.3.1\n"
                          "fuse acc.init.j.3.0 acc.init.i.3.1 as acc.init.lane"),
              HasSubstr("storage of one thread holds accesses of acc"));
  // The statement C reads elements of acc that other lanes hold.
  EXPECT_THAT(ExampleWith("fuse C.i.3.1 C.j.3.0 as C.lane",
                          "reorder C.j.3.0 C.i.3.1\nfuse C.j.3.0 C.i.3.1 as C.lane"),
              HasSubstr("storage of one thread holds accesses of acc"));
  // The loop acc.j.1 around the tile is bound to lanes.
  EXPECT_THAT(ExampleWith("bind acc.j.1 block.y", "bind acc.j.1 block.x"),
              HasSubstr("storage of one thread holds accesses of acc"));
  // A warp computes elements of C whose sums another warp holds.
  EXPECT_THAT(ExampleWith("bind C.i.1 block.z\nbind C.j.1 block.y",
                          "bind C.i.1 block.y\nbind C.j.1 block.z"),
              HasSubstr("storage of one thread holds accesses of acc"));
}

// Returns the text of a schedule for blocks of one warp that read operands from global memory. The
// steps `before` are first. `reduced` is the instruction's extent along k.
std::string Simple(const std::string& intrinsic, const std::string& before, int64_t reduced) {
  std::string steps = before + "split acc.i 16\nsplit acc.j 8\nsplit acc.k " +
                      std::to_string(reduced) +
                      "\nreorder acc.i.0 acc.j.0 acc.k.0 acc.i.1 acc.k.1 acc.j.1\n"
                      "compute_at acc.init acc.j.0\ncompute_at C acc.j.0\n"
                      "stage acc fragment acc.j.0\ntensorize acc.i.1 " +
                      intrinsic + "\nbind acc.i.0 grid.y\nbind acc.j.0 grid.x\n";
  for (const std::string s : {"acc.init", "C"}) {
    for (const std::string line :
         {"split $.i.1 8", "split $.j.1 2", "reorder $.i.1.1 $.j.1.0 $.i.1.0 $.j.1.1",
          "fuse $.i.1.1 $.j.1.0 as $.lane", "bind $.lane block.x", "unroll $.i.1.0",
          "unroll $.j.1.1"}) {
      std::string step = line;
      for (size_t at = 0; (at = step.find('$')) != std::string::npos;) step.replace(at, 1, s);
      steps += step + "\n";
    }
  }
  return "lower direct\n" + steps;
}

std::string Product(const std::string& type, const std::string& sum) {
  return ProductText({.rows = 32,
                      .columns = 24,
                      .length = 64,
                      .left = {.type = type},
                      .right = {.type = type},
                      .sum = sum,
                      .result = sum,
                      .value = "acc[i, j]"});
}

TEST(WarpTileSchedules, MultiplyEveryType) {
  EXPECT_EQ(
      Outcome(Product("f16", "f32"), Simple("mma.m16n8k16.f16", "", 16), ReductionOrder::kAny), "");
  EXPECT_EQ(
      Outcome(Product("i8", "i32"), Simple("mma.m16n8k32.s8", "", 32), ReductionOrder::kAsWritten),
      "");
}

// The checker's numbers have few bits, which TF32 represents exactly.
TEST(WarpTileSchedules, RoundToTf32WhereTheContractAllowsIt) {
  const std::string product = Product("f32", "f32");
  const std::string steps = Simple("mma.m16n8k8.tf32", "", 8);
  EXPECT_EQ(Outcome(product, steps, AnyRounding()), "");
  EXPECT_EQ(Outcome(product, steps, ReductionOrder::kAny),
            "tensorize acc.i.1 mma.m16n8k8.tf32: the accuracy contract requires more bits of "
            "operands than TF32 has");
}

// Float32 operands are split into three bfloat16 parts in earlier phases.
TEST(WarpTileSchedules, MultiplyFloat32ByTerms) {
  std::string steps = Simple("mma.m16n8k16.bf16", "precision acc bf16 3\n", 16);
  steps = ReplacedOnce(steps, "reorder acc.i.0 acc.j.0 acc.k.0",
                       "reorder acc.i.0 acc.j.0 acc.term acc.k.0");
  EXPECT_EQ(Outcome(Product("f32", "f32"), steps, ReductionOrder::kAny), "");
}

}  // namespace
}  // namespace tunec::test
