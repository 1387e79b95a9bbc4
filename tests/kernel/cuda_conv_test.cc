// Tests of the analytic schedules of convolutions by tensor cores. The emulation checks the results
// of small kernels. For large kernels, the tests check the instructions, the predicted times, and
// that ptxas reports no spills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "jit/code_generator.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/nvdisasm.h"
#include "kernel/loop_pipeline.h"
#include "schedule/sketch.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/convolutions.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

using ::testing::HasSubstr;

const std::string kBf16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
const std::string kF16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
const std::string kTf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";

struct Case {
  std::string name;
  std::string text;
  RoundingFreedom rounding;
  std::string mma;  // instruction in the PTX
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

// Returns cases small enough to emulate.
std::vector<Case> SmallConvolutions() {
  return {
      {"bf16", Convolution("bf16", {.channels = 32, .size = 16, .outputs = 32}), AnyOrder(), kBf16},
      {"f16", Convolution("f16", {.channels = 16, .size = 8, .outputs = 32}), AnyOrder(), kF16},
      {"tf32", Convolution("f32", {.channels = 16, .size = 16, .outputs = 16}), Tf32(), kTf32},
      {"rounded", Convolution("f32", {.channels = 32, .size = 16, .outputs = 32}),
       RoundingWithBf16Parts(1), kBf16},
      {"residual",
       Convolution("bf16", {.channels = 32, .size = 8, .outputs = 32}, Behind::kResidual),
       AnyOrder(), kBf16},
      {"alone", Convolution("f32", {.channels = 16, .size = 8, .outputs = 32}, Behind::kNothing),
       Tf32(), kTf32},
      {"odd_lines", Convolution("bf16", {.channels = 16, .size = 13, .outputs = 16}), AnyOrder(),
       kBf16},
      {"odd_channels", Convolution("bf16", {.channels = 24, .size = 9, .outputs = 21}), AnyOrder(),
       kBf16},
      {"odd_tf32",
       Convolution("f32", {.channels = 28, .size = 15, .outputs = 37}, Behind::kResidual), Tf32(),
       kTf32},
      {"stride", Convolution("bf16", {.channels = 32, .size = 15, .outputs = 32, .stride = 2}),
       AnyOrder(), kBf16},
      {"stride_tf32", Convolution("f32", {.channels = 32, .size = 17, .outputs = 32, .stride = 2}),
       Tf32(), kTf32},
      {"without_border",
       Convolution("bf16", {.channels = 32, .size = 14, .outputs = 32, .border = 0}), AnyOrder(),
       kBf16},
      {"five_taps",
       Convolution("bf16", {.channels = 16, .size = 9, .outputs = 16, .taps = 5, .border = 2}),
       AnyOrder(), kBf16},
      {"one_tap",
       Convolution("bf16", {.channels = 32, .size = 14, .outputs = 48, .taps = 1, .border = 0}),
       AnyOrder(), kBf16},
      {"one_tap_stride",
       Convolution(
           "bf16",
           {.channels = 64, .size = 27, .outputs = 64, .taps = 1, .stride = 2, .border = 0}),
       AnyOrder(), kBf16},
      {"batch", Convolution("bf16", {.channels = 16, .size = 8, .outputs = 16, .batch = 3}),
       AnyOrder(), kBf16},
      {"channels_first",
       Convolution("bf16", {.channels = 32, .size = 16, .outputs = 48}, Behind::kBiasRelu,
                   Order::kChannelsFirst),
       AnyOrder(), kBf16}};
}

// Returns cases of real sizes, which are only compiled.
std::vector<Case> LargeConvolutions() {
  const auto layer = [](int channels, int size, int outputs, int stride = 1) {
    return Window{.channels = channels, .size = size, .outputs = outputs, .stride = stride};
  };
  return {
      {"bf16_56", Convolution("bf16", layer(64, 56, 64)), AnyOrder(), kBf16},
      {"rounded_56", Convolution("f32", layer(64, 56, 64)), RoundingWithBf16Parts(1), kBf16},
      {"tf32_56", Convolution("f32", layer(64, 56, 64)), Tf32(), kTf32},
      {"f16_28", Convolution("f16", layer(128, 28, 128), Behind::kResidual), AnyOrder(), kF16},
      {"bf16_28_stride", Convolution("bf16", layer(64, 56, 128, 2)), AnyOrder(), kBf16},
      {"bf16_14", Convolution("bf16", layer(256, 14, 256), Behind::kResidual), AnyOrder(), kBf16},
      {"bf16_7", Convolution("bf16", layer(512, 7, 512)), AnyOrder(), kBf16},
      {"tf32_7", Convolution("f32", layer(512, 7, 512)), Tf32(), kTf32},
      {"bf16_odd", Convolution("bf16", layer(72, 37, 88)), AnyOrder(), kBf16}};
}

Sketch FirstSketch(const Case& one, const Target& target) {
  return SketchesFor({{{"direct", MustParse(one.text)}}, target, one.rounding})[0];
}

class SmallConvolution : public testing::TestWithParam<Case> {};

TEST_P(SmallConvolution, IsComputedRight) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const ScheduleChecker checker(MustParse(GetParam().text));
  for (const int processors : {1, 132}) {
    Target target = Gpu("sm_90a");
    target.device->processors = processors;
    const std::vector<Sketch> sketches =
        SketchesFor({{{"direct", MustParse(GetParam().text)}}, target, GetParam().rounding});
    const auto sketch = std::ranges::find(sketches, "cuda_conv", &Sketch::Kind);
    ASSERT_NE(sketch, sketches.end());
    ExpectRightOn(target, checker, Analytic(*sketch), GetParam().rounding);
  }
}

INSTANTIATE_TEST_SUITE_P(CudaConv, SmallConvolution, testing::ValuesIn(SmallConvolutions()),
                         [](const auto& info) { return info.param.name; });

class LargeConvolution : public testing::TestWithParam<Case> {};

TEST_P(LargeConvolution, IsMultipliedByTensorCores) {
  for (const std::string arch : {"sm_80", "sm_90a"}) {
    const Target target = Gpu(arch);
    const Sketch sketch = FirstSketch(GetParam(), target);
    ASSERT_EQ(sketch.Kind(), "cuda_conv") << arch << " " << sketch.name;
    const Schedule schedule = Analytic(sketch);
    const auto loops =
        RunLoopPipeline(MustParse(GetParam().text), schedule, {.rounding = GetParam().rounding});
    ASSERT_TRUE(loops) << loops.error().Format() << "\n" << Print(schedule);
    const CodeGenerator& generator = **GeneratorFor(target);
    const LoopNest nest = *generator.MapThreads(loops->nest);
    const auto ptx = generator.Show(nest, target, CodeText::kAssembly);
    ASSERT_TRUE(ptx) << ptx.error().message << "\n" << Print(schedule);
    EXPECT_THAT(*ptx, HasSubstr(GetParam().mma));
    EXPECT_THAT(*ptx, HasSubstr("ldmatrix.sync.aligned"));
    EXPECT_THAT(*ptx, HasSubstr("cp.async.cg.shared.global"));
    if (!test::WhyNoPtxas().empty()) continue;
    const auto image = generator.Compile(nest, target);
    ASSERT_TRUE(image) << arch << ": " << image.error().message << "\n" << Print(schedule);
    for (const PhaseLaunch& phase : image->phases) {
      EXPECT_EQ(phase.spilled_bytes, 0) << arch << "\n" << Print(schedule);
      EXPECT_EQ(phase.local_bytes, 0) << arch << "\n" << Print(schedule);
    }
    if (!FindNvdisasm()) continue;
    const auto machine_code = generator.Show(nest, target, CodeText::kMachineCode);
    ASSERT_TRUE(machine_code) << machine_code.error().message;
    EXPECT_THAT(*machine_code, HasSubstr("HMMA.")) << arch;
  }
}

INSTANTIATE_TEST_SUITE_P(CudaConv, LargeConvolution, testing::ValuesIn(LargeConvolutions()),
                         [](const auto& info) { return info.param.name; });

double Predicted(const Case& one, const Target& target) {
  return PredictedSeconds(MustParse(one.text), Analytic(FirstSketch(one, target)), target,
                          one.rounding);
}

// The schedules that the estimate selects are also faster than threads by the prediction.
TEST(CudaConv, IsPredictedFasterThanThreads) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  for (const std::string arch : {"sm_80", "sm_90a"}) {
    for (const Window& window : {Window{.channels = 64, .size = 56, .outputs = 64},
                                 Window{.channels = 256, .size = 14, .outputs = 256},
                                 Window{.channels = 512, .size = 7, .outputs = 512, .batch = 4}}) {
      const std::string text = Convolution("f32", window);
      const double threads = Predicted({"", text, AnyOrder(), ""}, Gpu(arch));
      for (const RoundingFreedom& rounding : {Tf32(), RoundingWithBf16Parts(1)})
        EXPECT_LT(Predicted({"", text, rounding, ""}, Gpu(arch)), threads)
            << arch << ", " << window.size;
    }
  }
}

}  // namespace
}  // namespace tunec::test
