// Tests of the analytic GPU schedules without tensor cores, on shapes that tiles divide and on
// other shapes. The emulation checks the results. The tests also check the spills that ptxas
// reports, and tunec's predicted times.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "schedule/sketch.h"
#include "schedule/sketches/cuda_tile_plan.h"
#include "schedule/sketches/cuda_tile_writer.h"
#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/sketches.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/convolutions.h"
#include "tests/programs/products.h"
#include "tests/programs/replaced.h"
#include "tests/programs/rows.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

struct Shape {
  std::string name;
  std::string kind;  // kind of the first sketch
  std::string text;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

// Returns the text of a convolution with a stride of 2, without a border.
std::string StridedConvolution(int channels, int size, int outputs) {
  return Numbered(R"(compute strided {
  input X: f32[1, $C, $S, $S]
  weight W: f32[$O, $C, 3, 3] constant
  output Y: f32[1, $O, $H, $H]
  acc[m: $O, oh: $H, ow: $H, ic: $C reduction, kh: 3 reduction, kw: 3 reduction]:
    Y[0, m, oh, ow] sum= X[0, ic, 2*oh + kh, 2*ow + kw] * W[m, ic, kh, kw]
})",
                  {{"$C", channels}, {"$S", size}, {"$O", outputs}, {"$H", (size - 1) / 2}});
}

// Returns the text of a pointwise convolution and relu, with channels last in memory.
std::string PointwiseConvolution(int channels, int size, int outputs) {
  return Numbered(R"(compute pointwise {
  input X: f32[1, $C, $S, $S] layout [1, $S, $S, $C] (i, j, k, l) -> [i, k, l, j]
  weight W: f32[$O, $C, 1, 1] constant
  output Y: f32[1, $O, $S, $S] layout [1, $S, $S, $O] (i, j, k, l) -> [i, k, l, j]
  workspace acc: f32[1, $O, $S, $S] layout [1, $S, $S, $O] (i, j, k, l) -> [i, k, l, j]
  acc[m: $O, oh: $S, ow: $S, ic: $C reduction]:
    acc[0, m, oh, ow] sum= X[0, ic, oh, ow] * W[m, ic, 0, 0]
  Y[m: $O, oh: $S, ow: $S]:
    Y[0, m, oh, ow] = max(acc[0, m, oh, ow], 0.0)
})",
                  {{"$C", channels}, {"$S", size}, {"$O", outputs}});
}

std::string Chain(int rows, int columns) {
  return Numbered(R"(compute chain {
  input A: f32[$M, $N]
  input B: f32[$M, $N]
  output C: f32[$M, $N]
  C[i: $M, j: $N]:
    C[i, j] = max(A[i, j] * B[i, j] + A[i, j], 0.0)
})",
                  {{"$M", rows}, {"$N", columns}});
}

// Returns shapes small enough to emulate.
std::vector<Shape> SmallShapes() {
  return {{"product", "cuda_tile", DenseLayerText(64, 96, 32)},
          {"product_odd", "cuda_tile", DenseLayerText(37, 29, 13)},
          {"product_ends", "cuda_tile", DenseLayerText(70, 44, 22)},
          {"product_odd_tiles", "cuda_tile", DenseLayerText(100, 45, 27)},
          {"product_long", "cuda_tile", DenseLayerText(32, 24, 1024)},
          {"product_long_odd", "cuda_tile", DenseLayerText(19, 11, 513)},
          {"batched_long", "cuda_tile", BatchedProductText(2, 8, 12, 768)},
          {"batched", "cuda_tile", BatchedProductText(3, 32, 24, 16)},
          {"batched_odd", "cuda_tile", BatchedProductText(2, 19, 23, 7)},
          {"convolution", "cuda_tile", OneImageConvolution(8, 14, 16)},
          {"convolution_odd", "cuda_tile", OneImageConvolution(5, 11, 7)},
          {"convolution_odd_tiles", "cuda_tile", OneImageConvolution(3, 29, 13)},
          {"convolution_deep", "cuda_tile", OneImageConvolution(64, 5, 8)},
          {"convolution_strided", "cuda_tile", StridedConvolution(5, 23, 9)},
          {"pointwise", "cuda_tile", PointwiseConvolution(16, 14, 32)},
          {"pointwise_odd", "cuda_tile", PointwiseConvolution(6, 9, 11)},
          {"chain", "cuda_elements", Chain(64, 512)},
          {"chain_odd", "cuda_elements", Chain(67, 129)},
          {"half_broadcast", "cuda_elements", HalfBroadcastText(40, 64)},
          {"half_broadcast_odd", "cuda_elements", HalfBroadcastText(40, 27)},
          {"turned", "cuda_elements", TransposedText(64, 96)},
          {"turned_ends", "cuda_elements", TransposedText(68, 20)},
          {"turned_odd", "cuda_elements", TransposedText(33, 25)},
          {"columns", "cuda_elements", ColumnSumsText(12, 4096)}};
}

// Returns shapes of real sizes, which are compiled but not run.
std::vector<Shape> LargeShapes() {
  return {{"product_512", "cuda_tile", DenseLayerText(512, 512, 512)},
          {"product_wide", "cuda_tile", DenseLayerText(128, 3072, 768)},
          {"product_odd", "cuda_tile", DenseLayerText(509, 401, 307)},
          {"product_long", "cuda_tile", DenseLayerText(64, 128, 8192)},
          {"product_long_odd", "cuda_tile", DenseLayerText(17, 65, 6561)},
          {"convolution_deep", "cuda_tile", OneImageConvolution(512, 7, 512)},
          {"batched", "cuda_tile", BatchedProductText(12, 512, 512, 64)},
          {"convolution", "cuda_tile", OneImageConvolution(64, 56, 64)},
          {"convolution_odd", "cuda_tile", OneImageConvolution(61, 53, 67)},
          {"convolution_strided", "cuda_tile", StridedConvolution(64, 57, 128)},
          {"pointwise", "cuda_tile", PointwiseConvolution(64, 56, 256)},
          {"pointwise_odd", "cuda_tile", PointwiseConvolution(62, 55, 250)},
          {"chain", "cuda_elements", Chain(4096, 4096)},
          {"chain_odd", "cuda_elements", Chain(1001, 777)},
          {"half_broadcast", "cuda_elements", HalfBroadcastText(4096, 1024)},
          {"turned", "cuda_elements", TransposedText(3136, 256)},
          {"columns", "cuda_elements", ColumnSumsText(64, 1 << 18)}};
}

// Returns the sketches that use no tensor cores, the most promising first.
std::vector<Sketch> DeviceSketches(const Compute& compute, const Target& target) {
  return SketchesFor({{{"direct", compute}}, WithoutTensorCores(target), ReductionOrder::kAny});
}

class SmallShape : public testing::TestWithParam<Shape> {};

TEST_P(SmallShape, IsComputedRight) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers do not support the emulation's stacks";
  const ScheduleChecker checker(MustParse(GetParam().text));
  for (const int processors : {1, 132}) {
    Target target = Gpu("sm_90a");
    target.device->processors = processors;
    const Sketch sketch = DeviceSketches(checker.compute(), target)[0];
    // The kind is checked for one processor only. On 132 processors, sketches of other kinds with
    // more threads may be faster.
    if (processors == 1) {
      EXPECT_EQ(sketch.Kind(), GetParam().kind);
    }
    ExpectRightOn(target, checker, Analytic(sketch), ReductionOrder::kAny);
  }
}

INSTANTIATE_TEST_SUITE_P(CudaSketches, SmallShape, testing::ValuesIn(SmallShapes()),
                         [](const auto& info) { return info.param.name; });

// Returns the sketch of AddBlockSketches, which SketchesFor does not return for all shapes.
Sketch BlocksOf(const Compute& compute) {
  std::vector<Sketch> sketches;
  AddBlockSketches({"direct", compute}, AnyRounding(), sketches);
  return sketches.at(0);
}

class LargeShape : public testing::TestWithParam<Shape> {};

TEST_P(LargeShape, IsPredictedFasterThanBlocksAndSpillsNothing) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  const Compute compute = MustParse(GetParam().text);
  for (const std::string arch : {"sm_80", "sm_90a"}) {
    const Target target = Gpu(arch);
    const std::vector<Sketch> sketches = DeviceSketches(compute, target);
    EXPECT_EQ(sketches[0].Kind(), GetParam().kind);
    // The largest allowed ratio of the times. The number of memory sectors at the ends of rows may
    // differ between the schedules.
    constexpr double kEnds = 1.001;
    EXPECT_LE(PredictedSeconds(compute, Analytic(sketches[0]), target, ReductionOrder::kAny),
              kEnds * PredictedSeconds(compute, Analytic(BlocksOf(compute)), target,
                                       ReductionOrder::kAny))
        << Print(Analytic(sketches[0]));
  }
}

// Returns the analytic schedule, but with `knob` set to `value`, one of the knob's choices.
Schedule WithKnob(const Sketch& sketch, std::string_view knob, int64_t value) {
  Decisions decisions = sketch.InitialDecisions();
  for (size_t k = 0; k < decisions.size(); ++k) {
    const auto& [name, choices, initial] = sketch.knobs[k];
    if (name != knob) continue;
    const auto at = std::ranges::find(choices, value) - choices.begin();
    decisions[k] = static_cast<int>(at);
  }
  return sketch.Fill(decisions);
}

// The undivided sums would leave most processors idle.
TEST(CudaSketches, ShortOutputsOfLongSumsArePredictedFasterInParts) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  const Target target = Gpu("sm_90a");
  for (const std::string& text : {DenseLayerText(64, 128, 8192), DenseLayerText(32, 256, 6144)}) {
    const Compute compute = MustParse(text);
    const Sketch sketch = DeviceSketches(compute, target)[0];
    EXPECT_LT(
        PredictedSeconds(compute, Analytic(sketch), target, ReductionOrder::kAny),
        PredictedSeconds(compute, WithKnob(sketch, "parts", 1), target, ReductionOrder::kAny));
  }
}

// Returns the schedule without padding that is estimated to be fastest. Tiles end at the extents.
Schedule Unpadded(const Compute& compute, const Target& target) {
  const std::optional<CudaTilePlan> plan = MakeCudaTilePlan(compute);
  EXPECT_TRUE(plan);
  Schedule schedule{.lowering = "direct"};
  if (plan) WriteCudaTile(*plan, BestCudaTile(*plan, WithAllFacts(*target.device)), schedule);
  return schedule;
}

// Tests of analytic schedules that pad, because tiles do not divide the shape or a convolution has
// borders.
class PaddedShape : public testing::TestWithParam<Shape> {};

TEST_P(PaddedShape, IsPredictedNoSlowerThanWithoutPadding) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  const Compute compute = MustParse(GetParam().text);
  const Target target = Gpu("sm_90a");
  const Schedule padded = Analytic(DeviceSketches(compute, target)[0]);
  EXPECT_TRUE(Print(padded).contains("\npad ")) << Print(padded);
  EXPECT_LE(PredictedSeconds(compute, padded, target, ReductionOrder::kAny),
            PredictedSeconds(compute, Unpadded(compute, target), target, ReductionOrder::kAny))
      << Print(padded);
}

// A tuner can choose schedules with and without padding.
TEST(CudaSketches, PaddingIsAKnob) {
  const Compute compute = MustParse(DenseLayerText(509, 401, 307));
  const Sketch sketch = DeviceSketches(compute, Gpu("sm_90a"))[0];
  EXPECT_TRUE(Print(WithKnob(sketch, "pad", 1)).contains("\npad "));
  EXPECT_FALSE(Print(WithKnob(sketch, "pad", 0)).contains("\npad "));
}

INSTANTIATE_TEST_SUITE_P(CudaSketches, PaddedShape,
                         testing::ValuesIn(std::vector<Shape>{
                             {"product", "", DenseLayerText(509, 401, 307)},
                             {"product_large", "", DenseLayerText(2039, 1531, 1021)},
                             {"product_long", "", DenseLayerText(17, 65, 6561)},
                             {"batched", "", BatchedProductText(12, 197, 197, 64)},
                             {"convolution", "", OneImageConvolution(64, 56, 64)},
                             {"convolution_deep", "", OneImageConvolution(128, 28, 128)},
                             {"convolution_odd", "", OneImageConvolution(61, 53, 67)},
                             {"convolution_image", "", OneImageConvolution(3, 224, 64)},
                             {"convolution_strided", "", StridedConvolution(64, 55, 128)},
                             {"pointwise_odd", "", PointwiseConvolution(62, 55, 250)}}),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(CudaSketches, LargeShape, testing::ValuesIn(LargeShapes()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec::test
