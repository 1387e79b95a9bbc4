// Tests of a second kind of target, which only the tests contain. Kernels are compiled for it by
// the common path, stored and read back, and run on its device.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jit/cpu/detect_cpu.h"
#include "kernel/compile_kernel.h"
#include "kernel/device_arrays.h"
#include "kernel/run_once.h"
#include "runtime/executable.h"
#include "tests/kernel/second_target/interpreting_device.h"
#include "tests/kernel/second_target/printing_generator.h"
#include "tests/programs/examples.h"
#include "tests/schedule/harness.h"

namespace tunec::second_target {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Returns the Compute of the example whose schedule has blocks of 8 x 8 threads and shared tiles.
Compute ForBlocks() { return test::ExampleCompute("matmul_blocks"); }
Schedule BlocksSchedule() {
  return *ParseSchedule(test::ReadExample("matmul_blocks.sched"), "example");
}

KernelOptions Options(int64_t shared_bytes) {
  return {.target = PrinterWith(shared_bytes),
          .loops = {.rounding = ReductionOrder::kAsWritten, .verify = VerifyStages::kEach}};
}

constexpr int64_t kSharedBytes = 2 * 3 * 8 * 32 * 4;  // two tiles, three stages
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
  ASSERT_EQ(kernel->image.phases.size(), 1u);
  EXPECT_EQ(kernel->image.phases[0], (PhaseLaunch{.symbol = "matmul_phase0",
                                                  .grid = {3, 4, 1},
                                                  .block = {8, 8, 1},
                                                  .shared_bytes = kSharedBytes}));
  // The image contains the schedule's loops, including threads.
  EXPECT_EQ(kernel->image.bytes,
            fmt::format("# {}\n{}", kLaunch, test::ReadExample("matmul_blocks.nest")));
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
  Paper paper;
  const auto device = MakeInterpretingDevice(paper);
  const auto there = RunOnce(loops->nest, *image, arguments, *device);
  ASSERT_TRUE(there) << there.error().Format();
  EXPECT_THAT(paper.log, ElementsAre("allocate 28000", "copy 28000 in", "allocate 25200",
                                     "copy 25200 in", "allocate 36000", "load matmul",
                                     "bind matmul", std::string(kLaunch), "copy 36000 out"));
  ThreadPool pool(2);
  const auto here = CompileAndRun(loops->nest, arguments, DetectCpu(2), pool);
  ASSERT_TRUE(here) << here.error().Format();
  ASSERT_EQ(there->size(), 1u);
  for (int64_t i = 0; i < here->front().size(); ++i) {
    ASSERT_EQ(there->front().GetDouble(i), here->front().GetDouble(i)) << i;
  }
}

// A nest that computes C = (A + 1) * 2 through a workspace. The first phase has three waves.
constexpr std::string_view kWaves = R"(
nest sums {
  input A: f32[12]
  output C: f32[12]
  workspace W: f32[12]
  phase first {
    wave for t in 0 .. 3 {
      parallel for i in 0 .. 4 {
        w: W[4*t + i] = A[4*t + i] + 1.0
      }
    }
  }
  phase second {
    parallel for i in 0 .. 12 {
      s: C[i] = W[i] * 2.0
    }
  }
}
)";

struct BoundKernel {
  DeviceMemory in, out, workspace;
  std::unique_ptr<DeviceKernel> kernel;
};

BoundKernel BindAnew(Device& device, const std::shared_ptr<const DeviceCode>& code,
                     const KernelImage& image) {
  BoundKernel bound{.in = *device.Allocate(48),
                    .out = *device.Allocate(48),
                    .workspace = *AllocateWorkspace(device, image),
                    .kernel = {}};
  bound.kernel = *device.Bind(code, {bound.in.address, bound.out.address}, bound.workspace.address);
  return bound;
}

class SecondTargetsDevice : public ::testing::Test {
 protected:
  RegisteredGenerator registered_{MakePrintingGenerator()};
  Paper paper_;
  std::unique_ptr<Device> device_ = MakeInterpretingDevice(paper_);
  LoopNest nest_ = *ParseLoopNest(kWaves, "waves");
  KernelImage image_ = *EmitImage(nest_, PrinterWith(0));
};

TEST_F(SecondTargetsDevice, CodeIsLoadedOnceAndBoundOften) {
  ASSERT_GT(image_.workspace_bytes, 0);
  const auto code = device_->Load(image_);
  ASSERT_TRUE(code) << code.error().Format();
  EXPECT_EQ((*code)->OnHost(), nullptr);
  const BoundKernel one = BindAnew(*device_, *code, image_);
  const BoundKernel two = BindAnew(*device_, *code, image_);
  const std::vector<float> ones(12, 1), twos(12, 2);
  ASSERT_TRUE(device_->CopyIn(one.in.address, ones.data(), 48));
  ASSERT_TRUE(device_->CopyIn(two.in.address, twos.data(), 48));
  one.kernel->Poison();
  one.kernel->Start();
  two.kernel->Start();
  ASSERT_TRUE(device_->Synchronize());
  std::vector<float> of_one(12), of_two(12);
  ASSERT_TRUE(device_->CopyOut(of_one.data(), one.out.address, 48));
  ASSERT_TRUE(device_->CopyOut(of_two.data(), two.out.address, 48));
  EXPECT_THAT(of_one, Each(4));
  EXPECT_THAT(of_two, Each(6));
  EXPECT_THAT(paper_.log, Contains("load sums").Times(1));
}

TEST_F(SecondTargetsDevice, WavesAreLaunchesOfTheirOwn) {
  EXPECT_EQ(image_.phases[0].waves, 3);
  const BoundKernel bound = BindAnew(*device_, *device_->Load(image_), image_);
  paper_.log.clear();
  ASSERT_TRUE(bound.kernel->Seconds(1));
  EXPECT_THAT(paper_.log,
              ElementsAre("launch sums_phase0 grid 12x1x1 block 1x1x1 shared 0 blocks 0..3",
                          "launch sums_phase0 grid 12x1x1 block 1x1x1 shared 0 blocks 4..7",
                          "launch sums_phase0 grid 12x1x1 block 1x1x1 shared 0 blocks 8..11",
                          "launch sums_phase1 grid 12x1x1 block 1x1x1 shared 0"));
}

TEST_F(SecondTargetsDevice, AFailedRunIsSaidAndNothingRunsAfterIt) {
  paper_.failing_run = 3;
  const BoundKernel bound = BindAnew(*device_, *device_->Load(image_), image_);
  const auto two = bound.kernel->Seconds(2);
  ASSERT_TRUE(two) << two.error().Format();
  EXPECT_DOUBLE_EQ(*two, 2e-3);
  const auto third = bound.kernel->Seconds(2);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::kDevice);
  EXPECT_EQ(third.error().message, "the device is lost: run 3 of sums failed");
  EXPECT_EQ(device_->Synchronize().error().message, third.error().message);
}

// The device does not launch kernels as a group, so they are started one after the other.
TEST_F(SecondTargetsDevice, RunsAModel) {
  ASSERT_GT(image_.workspace_bytes, 0);
  const std::shared_ptr<Device> device = std::move(device_);
  const auto code = *device->Load(image_);
  const auto step = [&](ValueRef from, ValueRef to) {
    return Step{.name = "sums",
                .kernel = {.workspace_bytes = image_.workspace_bytes},
                .arguments = {from, to},
                .code = code};
  };
  const auto model = Executable::Make({.device = device,
                                       .inputs = {{"x", DataType::kF32, {12}}},
                                       .outputs = {{"y", DataType::kF32, {12}}},
                                       .steps = {step(ValueRef::Input(0), ValueRef::Arena(0)),
                                                 step(ValueRef::Arena(0), ValueRef::Output(0))},
                                       .arena_bytes = 48});
  ASSERT_TRUE(model) << model.error().Format();
  for (const float value : {1.0F, 2.0F}) {
    paper_.log.clear();
    const std::vector<float> x(12, value);
    std::vector<float> y(12);
    const void* const from[] = {x.data()};
    void* const to[] = {y.data()};
    ASSERT_TRUE(model->Run(from, to));
    EXPECT_THAT(y, Each(4 * value + 6));
    EXPECT_THAT(paper_.log, Contains(StartsWith("launch sums_phase0")).Times(6));
    EXPECT_THAT(paper_.log, Contains("start copying 48 in").Times(1));
    EXPECT_THAT(paper_.log, Contains("start copying 48 out").Times(1));
    EXPECT_THAT(paper_.log, Not(Contains(StartsWith("bind "))));
  }
  paper_.failing_run = 3;
  const std::vector<float> x(12);
  std::vector<float> y(12);
  const void* const from[] = {x.data()};
  void* const to[] = {y.data()};
  EXPECT_EQ(model->Run(from, to).error().message, "the device is lost: run 3 of sums failed");
}

TEST(SecondTarget, ItsDriverSaysWhetherItRunsHere) {
  ThreadPool pool(1);
  Target target = PrinterWith(0);
  EXPECT_EQ(CheckRunsHere(target).error().message,
            "this machine has no printer that tunec can drive");
  Paper paper;
  const RegisteredDriver registered(DriverOf(paper));
  EXPECT_TRUE(CheckRunsHere(target));
  EXPECT_TRUE(OpenDevice(target, pool));
  target.device->name = "vellum";
  const auto rejected = OpenDevice(target, pool);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().message, "this machine has no vellum, only paper");
}

}  // namespace
}  // namespace tunec::second_target
