// Tests of the GPU schedules of convolutions by matrix instructions. The tests check steps, chosen
// sizes and rejections, and compare schedules with the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <random>

#include "schedule/sketches/cuda_conv_plan.h"
#include "schedule/sketches/cuda_conv_writer.h"
#include "schedule/sketches/device_cost.h"
#include "tests/programs/convolutions.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Accelerator Gpu() { return WithAllFacts(*SmallGpu().device); }

// Returns the text of a convolution with a layout of W in which input channels are contiguous.
std::string WithPackedWeights(std::string text) {
  const size_t begin = text.find("[", text.find("weight W"));
  const size_t end = text.find("]", begin);
  std::string shape = text.substr(begin + 1, end - begin - 1);  // "16, 8, 3, 3"
  const size_t channels = shape.find(", ");
  const size_t taps = shape.find(", ", channels + 2);
  const std::string lying =
      shape.substr(0, channels) + shape.substr(taps) + shape.substr(channels, taps - channels);
  return text.insert(text.find("\n", end), " layout [" + lying + "] (i, j, k, l) -> [i, k, l, j]");
}

std::string Packed(const std::string& type, const Window& window,
                   Behind behind = Behind::kBiasRelu) {
  return WithPackedWeights(Convolution(type, window, behind));
}

std::optional<CudaConvPlan> PlanOf(const std::string& compute, const RoundingFreedom& rounding) {
  return MakeCudaConvPlan(MustParse(compute), Gpu(), rounding);
}

Schedule WithChoice(const std::string& compute, const CudaConvChoice& choice) {
  const auto plan = PlanOf(compute, AnyRounding());
  EXPECT_TRUE(plan);
  Schedule schedule{.lowering = "direct"};
  if (plan) WriteCudaConv(*plan, Fitted(*plan, choice, Gpu()), schedule);
  return schedule;
}

// Compares the schedule with the interpreter. Returns the difference or an error, with the text of
// the schedule, or an empty string if the results agree.
std::string Wrong(const std::string& compute, const Schedule& schedule) {
  const std::string outcome = ScheduleChecker(MustParse(compute)).Outcome(schedule, AnyRounding());
  return outcome.empty() ? "" : outcome + "\n" + Print(schedule);
}

TEST(CudaConv, MultipliesWindowsInSharedStorage) {
  const std::string compute =
      Packed("bf16", {.channels = 32, .size = 7, .outputs = 32}, Behind::kBiasRelu);
  const Schedule schedule = WithChoice(compute, {.row_warps = 2,
                                                 .line_warps = 2,
                                                 .row_tiles = 1,
                                                 .line_tiles = 2,
                                                 .column_tiles = 1,
                                                 .steps = 1,
                                                 .stages = 2});
  EXPECT_EQ(Wrong(compute, schedule), "");
  const std::string text = Print(schedule);
  EXPECT_THAT(text, HasSubstr("copy X acc oh 4 ow 8\ncopy W acc oh 4\n"
                              "pad acc oh 4 ow 8\nsplit acc.m 32\n"));
  EXPECT_THAT(text, HasSubstr("stage acc fragment acc.ow.0 0 2 1 3\n"));
  EXPECT_THAT(text, HasSubstr("stage X.copy shared acc.ic.0 "));
  EXPECT_THAT(text, HasSubstr("tensorize acc.m.1.2 mma.m16n8k16.bf16\n"));
  EXPECT_THAT(text, HasSubstr("pipeline acc.ic.0 2\n"));
}

TEST(CudaConv, MultipliesEveryType) {
  for (const std::string type : {"bf16", "f16", "f32"}) {
    const std::string compute =
        Packed(type, {.channels = 16, .size = 8, .outputs = 16}, Behind::kResidual);
    EXPECT_EQ(Wrong(compute, WithChoice(compute, {})), "") << type;
  }
}

// Random choices give legal and correct schedules after fitting.
TEST(CudaConv, IsRightWithEveryChoice) {
  std::mt19937 random(5);
  const auto one_of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  const std::array<std::string, 6> computes = {
      Packed("bf16", {.channels = 32, .size = 6, .outputs = 24}),
      Packed("f32", {.channels = 12, .size = 6, .outputs = 16, .border = 0}),
      Packed("bf16", {.channels = 16, .size = 11, .outputs = 16, .stride = 2}, Behind::kResidual),
      Packed("f16", {.channels = 24, .size = 10, .outputs = 17, .taps = 1, .border = 0}),
      Packed("bf16", {.channels = 16, .size = 5, .outputs = 16, .taps = 5, .border = 2}),
      Packed("bf16", {.channels = 8, .size = 7, .outputs = 16, .batch = 2}, Behind::kNothing)};
  for (int i = 0; i < 40; ++i) {
    const std::string& compute = computes.at(random() % computes.size());
    const CudaConvChoice choice = {.row_warps = one_of({1, 2, 4}),
                                   .line_warps = one_of({1, 2, 4, 8}),
                                   .row_tiles = one_of({1, 2, 4}),
                                   .line_tiles = one_of({1, 2, 4}),
                                   .column_tiles = one_of({1, 2, 3, 4, 7}),
                                   .steps = one_of({1, 2, 4}),
                                   .stages = one_of({1, 2, 3, 4})};
    ASSERT_EQ(Wrong(compute, WithChoice(compute, choice)), "");
  }
}

TEST(CudaConv, FitsTheDevice) {
  const auto plan =
      PlanOf(Packed("bf16", {.channels = 64, .size = 28, .outputs = 64}), AnyRounding());
  ASSERT_TRUE(plan);
  Accelerator small = Gpu();
  small.shared_bytes = 20 << 10;
  small.registers = 16384;
  const CudaConvChoice fitted = Fitted(*plan,
                                       {.row_warps = 8,
                                        .line_warps = 4,
                                        .row_tiles = 8,
                                        .line_tiles = 4,
                                        .column_tiles = 7,
                                        .steps = 4,
                                        .stages = 4},
                                       small);
  int64_t bytes = 2;
  for (const IndexExpr& index : plan->weights.index) bytes *= SideLength(*plan, fitted, index);
  EXPECT_LE(bytes * StagesOf(*plan, fitted), small.shared_bytes);
  EXPECT_LE(4 * fitted.row_tiles * fitted.line_tiles * fitted.column_tiles, 128);
  EXPECT_LE(32 * fitted.Warps() * 4 * fitted.row_tiles * fitted.line_tiles * fitted.column_tiles,
            small.registers);
}

TEST(CudaConv, IsForChannelsThatLieSideBySide) {
  const Window window = {.channels = 16, .size = 8, .outputs = 16};
  EXPECT_TRUE(PlanOf(Packed("bf16", window), ReductionOrder::kAny));
  EXPECT_FALSE(PlanOf(Packed("bf16", window), ReductionOrder::kAsWritten));
  EXPECT_FALSE(PlanOf(Packed("f32", window), ReductionOrder::kAny));
  EXPECT_TRUE(PlanOf(Packed("f32", window), AnyRounding()));
  // A copy moves 16 bytes of channels, and 12 bfloat16 channels are not a multiple of that.
  EXPECT_FALSE(PlanOf(Packed("bf16", {.channels = 12, .size = 8}), AnyRounding()));
  EXPECT_TRUE(PlanOf(Packed("f32", {.channels = 12, .size = 8}), AnyRounding()));
  // A K-block cannot contain all 81 taps.
  EXPECT_FALSE(PlanOf(Packed("bf16", {.size = 16, .taps = 9, .border = 4}), AnyRounding()));
  const Compute unpacked = MustParse(Convolution("bf16", window));
  EXPECT_FALSE(MakeCudaConvPlan(unpacked, Gpu(), AnyRounding()));
  ASSERT_EQ(PacksOfCudaConv(unpacked).size(), 1u);
  EXPECT_EQ(PacksOfCudaConv(unpacked)[0].tensor, "W");
  const Compute first =
      MustParse(Convolution("bf16", window, Behind::kNothing, Order::kChannelsFirst));
  EXPECT_EQ(PacksOfCudaConv(first).size(), 2u);
}

// Returns the text of the initial schedule of the first sketch, which must be cuda_conv. Checks the
// results of the schedule. By default the GPU has one processor, so cuda_conv is first even for
// small convolutions.
std::string AnalyticText(const std::string& compute, const RoundingFreedom& rounding,
                         int processors = 1) {
  Target target = SmallGpu();
  target.device->processors = processors;
  const Sketch sketch = SketchesFor({{{"direct", MustParse(compute)}}, target, rounding})[0];
  EXPECT_EQ(sketch.name, "cuda_conv");
  const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
  const std::string outcome = ScheduleChecker(MustParse(compute)).Outcome(schedule, rounding);
  EXPECT_EQ(outcome, "") << Print(schedule);
  return Print(schedule);
}

TEST(CudaConvSketch, PacksWhatLiesOtherwise) {
  const Window window = {.channels = 32, .size = 16, .outputs = 32};
  const std::string last = AnalyticText(Convolution("bf16", window), ReductionOrder::kAny);
  EXPECT_THAT(last, HasSubstr("pack W 0 2 3 1\n"));
  EXPECT_THAT(last, HasSubstr("storage_order W.pack 64\n"));
  EXPECT_THAT(last, Not(HasSubstr("pack X")));
  const std::string first = AnalyticText(
      Convolution("bf16", window, Behind::kBiasRelu, Order::kChannelsFirst), ReductionOrder::kAny);
  EXPECT_THAT(first, HasSubstr("pack X 0 2 3 1\n"));
  EXPECT_THAT(first, HasSubstr("bind X.pack."));
}

TEST(CudaConvSketch, RoundsFloat32WhereTheContractAllowsIt) {
  const std::string compute = Convolution("f32", {.channels = 32, .size = 16, .outputs = 32});
  RoundingFreedom tf32 = ReductionOrder::kAny;
  tf32.tf32_operands = true;
  EXPECT_THAT(AnalyticText(compute, tf32), HasSubstr("mma.m16n8k8.tf32"));
  RoundingFreedom bf16 = ReductionOrder::kAny;
  bf16.min_bf16_parts = 1;
  const std::string rounded = AnalyticText(compute, bf16);
  EXPECT_THAT(rounded, HasSubstr("precision acc bf16 1\n"));
  EXPECT_THAT(rounded, HasSubstr("pack W.bf16 "));
  EXPECT_THAT(rounded, HasSubstr("storage_order W.bf16 64\n"));
}

}  // namespace
}  // namespace tunec::test
