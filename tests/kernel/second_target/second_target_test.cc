// A second kind of target, of which the product knows nothing: kernels are compiled for it by the
// one path there is, stored and read back, and run on its device.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jit/cpu/detect_cpu.h"
#include "kernel/compile_kernel.h"
#include "kernel/run_once.h"
#include "support/file.h"
#include "tests/kernel/second_target/interpreting_device.h"
#include "tests/kernel/second_target/printing_generator.h"
#include "tests/schedule/harness.h"

namespace tunec::second_target {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Blocks of 8 x 8 threads, with tiles in shared storage and copies in flight.
std::string ReadExample(const std::string& name) {
  return *ReadFile(std::string(TUNEC_TEST_DATA) + "/../examples/loops/" + name);
}
Compute ForBlocks() { return test::MustParse(ReadExample("matmul_blocks.compute")); }
Schedule BlocksSchedule() { return *ParseSchedule(ReadExample("matmul_blocks.sched"), "example"); }

KernelOptions Options(int64_t shared_bytes) {
  return {.target = PrinterWith(shared_bytes),
          .loops = {.rounding = ReductionOrder::kAsWritten, .verify = VerifyStages::kEach}};
}

constexpr int64_t kSharedBytes = 2 * 3 * 8 * 32 * 4;  // two tiles, three deep
constexpr std::string_view kLaunch = "launch matmul_phase0 grid 3x4x1 block 8x8x1 shared 6144";

TEST(SecondTarget, IsUnknownWithoutAGenerator) {
  const auto kernel = CompileKernel(ForBlocks(), BlocksSchedule(), Options(kSharedBytes));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(kernel.error().message, "there is no code generator for printer");
}

TEST(SecondTarget, ItsGeneratorIsChosenByTheTargetWhileItIsKnown) {
  {
    const RegisteredGenerator registered(MakePrintingGenerator());
    EXPECT_EQ((*GeneratorFor(PrinterWith(0)))->Name(), kKind);
    EXPECT_EQ(CodeGeneratorVersion(PrinterWith(0)), "printer 1");
    EXPECT_EQ((*GeneratorFor(Target{}))->Name(), "cpu");
  }
  EXPECT_FALSE(GeneratorFor(PrinterWith(0)));
  EXPECT_THAT(CodeGeneratorVersion(Target{}), StartsWith("tunec-codegen "));
}

TEST(SecondTarget, SaysWhatItWouldLaunch) {
  const RegisteredGenerator registered(MakePrintingGenerator());
  const auto kernel = CompileKernel(ForBlocks(), BlocksSchedule(), Options(kSharedBytes));
  ASSERT_TRUE(kernel) << kernel.error().Format();
  ASSERT_EQ(kernel->image.launches.size(), 1u);
  EXPECT_EQ(kernel->image.launches[0], (KernelLaunch{.symbol = "matmul_phase0",
                                                     .grid = {3, 4, 1},
                                                     .block = {8, 8, 1},
                                                     .shared_bytes = kSharedBytes}));
  // Its loops are those of the schedule, threads and all.
  EXPECT_EQ(kernel->image.bytes,
            fmt::format("# {}\n{}", kLaunch, ReadExample("matmul_blocks.nest")));
  const auto again = FromArtifact(ToArtifact(*kernel));
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(*again, *kernel);
}

TEST(SecondTarget, ItsLimitsAreItsOwn) {
  const RegisteredGenerator registered(MakePrintingGenerator());
  const auto kernel = CompileKernel(ForBlocks(), BlocksSchedule(), Options(kSharedBytes - 1));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::kResourceLimit);
  EXPECT_THAT(kernel.error().message, HasSubstr("shares 6144 bytes in a block, paper has 6143"));
}

TEST(SecondTarget, RunsOnItsDeviceAsOnTheHost) {
  const RegisteredGenerator registered(MakePrintingGenerator());
  const Compute compute = ForBlocks();
  const auto loops = RunLoopPipeline(compute, BlocksSchedule(), Options(0).loops);
  ASSERT_TRUE(loops) << loops.error().Format();
  const std::vector<Array> arguments = test::RandomArguments(compute, 7);
  const auto image = EmitImage(loops->nest, PrinterWith(kSharedBytes));
  ASSERT_TRUE(image) << image.error().Format();
  std::vector<std::string> log;
  const auto device = MakeInterpretingDevice(log);
  const auto there = RunOnce(loops->nest, *image, arguments, *device);
  ASSERT_TRUE(there) << there.error().Format();
  EXPECT_THAT(log,
              ElementsAre("allocate 28000", "copy 28000 in", "allocate 25200", "copy 25200 in",
                          "allocate 36000", "load matmul", std::string(kLaunch), "copy 36000 out"));
  ThreadPool pool(2);
  const auto here = CompileAndRun(loops->nest, arguments, DetectCpu(2), pool);
  ASSERT_TRUE(here) << here.error().Format();
  ASSERT_EQ(there->size(), 1u);
  for (int64_t i = 0; i < here->front().size(); ++i) {
    ASSERT_EQ(there->front().GetDouble(i), here->front().GetDouble(i)) << i;
  }
}

}  // namespace
}  // namespace tunec::second_target
