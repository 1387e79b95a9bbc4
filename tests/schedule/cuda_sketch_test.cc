// Tests of GPU sketches. The tests check steps, chosen sizes and the results of schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "ir/loop_nest.h"
#include "schedule/sketches/cuda_split.h"
#include "schedule/sketches/cuda_tile_plan.h"
#include "schedule/sketches/cuda_tile_writer.h"
#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/device_phase.h"
#include "tests/programs/convolutions.h"
#include "tests/programs/operators.h"
#include "tests/programs/products.h"
#include "tests/programs/rows.h"
#include "tests/schedule/expect_schedule.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

using ::testing::HasSubstr;

const std::string kProduct =
    ProductText({.rows = 64, .columns = 96, .length = 32, .right = {.weight = "constant"}});
const std::string kConvolution = OneImageConvolution(8, 14, 16);

Accelerator Gpu() { return WithAllFacts(*SmallGpu().device); }

Schedule TileSchedule(std::string_view compute, const CudaTileChoice& choice) {
  const auto plan = MakeCudaTilePlan(MustParse(compute));
  EXPECT_TRUE(plan);
  Schedule schedule{.lowering = "direct"};
  if (!plan) return schedule;
  EXPECT_EQ(Fitted(*plan, choice, Gpu()).Threads(), choice.Threads());
  WriteCudaTile(*plan, choice, schedule);
  EXPECT_EQ(ScheduleChecker(MustParse(compute)).Outcome(schedule), "");
  return schedule;
}

TEST(CudaTile, GoldenOfAProductSharesBothOperands) {
  ExpectSchedule("cuda_tile_product", TileSchedule(kProduct, {.column_threads = 8,
                                                              .column_elements = 4,
                                                              .row_threads = 8,
                                                              .row_elements = 4,
                                                              .piece = 8}));
}

// Only W is copied to shared memory. The windows of X are read from global memory. Columns have
// conditions, so a thread has one column.
TEST(CudaTile, GoldenOfAConvolutionSharesWeights) {
  ExpectSchedule("cuda_tile_convolution", TileSchedule(kConvolution, {.column_threads = 14,
                                                                      .column_elements = 1,
                                                                      .outer_columns = 2,
                                                                      .row_threads = 2,
                                                                      .row_elements = 4,
                                                                      .piece = 4}));
}

// With stride 1, a window is as long as the tile plus the number of taps minus one.
TEST(CudaTile, GoldenOfAConvolutionMayShareWindows) {
  ExpectSchedule("cuda_tile_windows", TileSchedule(kConvolution, {.column_threads = 14,
                                                                  .column_elements = 1,
                                                                  .outer_columns = 2,
                                                                  .row_threads = 2,
                                                                  .row_elements = 4,
                                                                  .piece = 4,
                                                                  .windows = true}));
}

TEST(CudaTile, RunsBlocksInBands) {
  const std::string text = Print(TileSchedule(kProduct, {.column_threads = 8,
                                                         .column_elements = 4,
                                                         .row_threads = 4,
                                                         .row_elements = 4,
                                                         .piece = 8,
                                                         .band = 2}));
  EXPECT_NE(text.find("swizzle acc.i.0 acc.j.0 2\n"), std::string::npos) << text;
}

TEST(CudaTile, IsForOperandsThatKnowDifferentOutputs) {
  EXPECT_TRUE(MakeCudaTilePlan(MustParse(kMatmul)));
  EXPECT_FALSE(MakeCudaTilePlan(MustParse(kDepthwise)));
  EXPECT_FALSE(MakeCudaTilePlan(MustParse(kMaxPool)));
  EXPECT_FALSE(MakeCudaTilePlan(MustParse(kSumLast)));
}

TEST(CudaTile, FitsTheDevice) {
  const auto plan = MakeCudaTilePlan(MustParse(kProduct));
  ASSERT_TRUE(plan);
  Accelerator small = Gpu();
  small.shared_bytes = 2048;
  const CudaTileChoice fitted = Fitted(*plan,
                                       {.column_threads = 64,
                                        .column_elements = 4,
                                        .row_threads = 32,
                                        .row_elements = 16,
                                        .piece = 32},
                                       small);
  EXPECT_LE(fitted.Threads(), 1024);
  EXPECT_LE(fitted.row_elements * fitted.column_elements, 128);
  EXPECT_EQ(64 % fitted.row_elements, 0);
  EXPECT_LE(int64_t{4} * fitted.stages * fitted.piece * (fitted.Rows() + fitted.Columns()), 2048);
}

// Without padding, tile sizes divide their dimensions, unless a thread has one element along them.
TEST(CudaTile, DividesWhatHasDivisors) {
  const auto plan = MakeCudaTilePlan(MustParse(kProduct));
  ASSERT_TRUE(plan);
  for (const int processors : {1, 16, 132}) {
    Accelerator device = Gpu();
    device.processors = processors;
    const CudaTileChoice best = BestCudaTile(*plan, device);
    EXPECT_TRUE(best.row_elements == 1 || 64 % best.Rows() == 0);
    EXPECT_TRUE(best.column_elements == 1 || 96 % best.Columns() == 0);
    EXPECT_GE(best.Threads(), kWarpThreads);
  }
}

const std::string kOddProduct =
    ProductText({.columns = 29, .length = 43, .right = {.weight = "constant"}, .value = ""});

// A convolution with stride 2 and a border. Its extents are odd, so no even tile size divides them.
constexpr std::string_view kOddConvolution = R"(compute convolution {
  input X: f32[1, 5, 17, 13]
  weight W: f32[7, 5, 3, 3] constant
  output Y: f32[1, 7, 9, 7]
  workspace acc: f32[1, 7, 9, 7]
  acc[m: 7, oh: 9, ow: 7, ic: 5 reduction, kh: 3 reduction, kw: 3 reduction] where 2*oh + kh - 1 >= 0, -2*oh - kh + 17 >= 0, 2*ow + kw - 1 >= 0, -2*ow - kw + 13 >= 0:
    acc[0, m, oh, ow] sum= X[0, ic, 2*oh + kh - 1, 2*ow + kw - 1] * W[m, ic, kh, kw]
  Y[m: 7, oh: 9, ow: 7]:
    Y[0, m, oh, ow] = max(acc[0, m, oh, ow], 0.0)
})";

std::string PaddedText(std::string_view compute, const CudaTileChoice& choice) {
  const auto plan = MakePaddedCudaTilePlan(MustParse(compute), ReductionOrder::kAny);
  EXPECT_TRUE(plan);
  if (!plan) return "";
  Schedule schedule{.lowering = "direct"};
  WriteCudaTile(*plan, Fitted(*plan, choice, Gpu()), schedule);
  EXPECT_EQ(ScheduleChecker(MustParse(compute)).Outcome(schedule), "") << Print(schedule);
  return Print(schedule);
}

// Windows include borders, so a thread can have several columns, and the sum has no conditions.
TEST(CudaTile, OfAPaddedConvolutionHasFullTiles) {
  const std::string text = PaddedText(kConvolution, {.column_threads = 4,
                                                     .column_elements = 4,
                                                     .outer_columns = 2,
                                                     .row_threads = 3,
                                                     .row_elements = 2,
                                                     .piece = 8});
  EXPECT_THAT(text, HasSubstr(R"(copy X acc m 6 oh 2 ow 16
copy W acc oh 2
pad acc m 6 ow 16
split acc.m 6
split acc.oh 2
split acc.ow 16
split acc.ic 8
)"));
  EXPECT_THAT(text, HasSubstr("vectorize acc.ow.1.1\n"));
}

TEST(CudaTile, IsPaddedAsTheContractAllows) {
  const auto plan = [](std::string_view compute, ReductionOrder order) {
    return MakePaddedCudaTilePlan(MustParse(compute), order).has_value();
  };
  EXPECT_TRUE(plan(kOddProduct, ReductionOrder::kAsWritten));
  EXPECT_TRUE(plan(kConvolution, ReductionOrder::kAny));
  // The border is 0 times a weight, and the weight may be infinite or NaN.
  EXPECT_FALSE(plan(kConvolution, ReductionOrder::kAsWritten));
}

// Padded schedules are correct for random choices after fitting.
TEST(CudaTile, PaddedIsRightWithEveryChoice) {
  std::mt19937 random(5);
  const auto one_of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  for (int i = 0; i < 15; ++i) {
    const CudaTileChoice choice = {.column_threads = one_of({1, 3, 4, 8, 16, 64}),
                                   .column_elements = one_of({1, 2, 4}),
                                   .outer_columns = one_of({1, 2, 4, 8}),
                                   .row_threads = one_of({1, 2, 4, 7, 32}),
                                   .row_elements = one_of({1, 2, 4, 7, 16}),
                                   .outer_rows = one_of({1, 2, 8}),
                                   .piece = one_of({1, 4, 8, 16, 32}),
                                   .stages = one_of({1, 2}),
                                   .band = one_of({1, 2, 4})};
    for (const std::string_view compute : ProgramTexts{kOddProduct, kOddConvolution, kConvolution})
      PaddedText(compute, choice);
    ASSERT_FALSE(HasFailure());
  }
}

std::string LongProduct(int64_t length = 512) {
  return ProductText(
      {.rows = 16, .columns = 32, .length = length, .right = {.weight = "constant"}});
}

DevicePhase TilePhase(const Compute& compute, ReductionOrder order) {
  Accelerator device = Gpu();
  device.processors = 132;
  const RoundingFreedom rounding(order);
  auto phase = MakeCudaTilePhase({.compute = compute, .device = device, .rounding = rounding});
  EXPECT_TRUE(phase);
  return phase ? *std::move(phase) : DevicePhase();
}

const Knob* FindKnob(const DevicePhase& phase, std::string_view name) {
  const auto knob = std::ranges::find(phase.knobs, name, &Knob::name);
  return knob == phase.knobs.end() ? nullptr : &*knob;
}

// The first phase computes a partial sum of each part. The second adds these sums in order.
TEST(CudaTile, GoldenMakesSumsInParts) {
  const Compute compute = MustParse(LongProduct());
  const DevicePhase phase = TilePhase(compute, ReductionOrder::kAny);
  std::vector<int64_t> values;
  for (const Knob& knob : phase.knobs) values.push_back(knob.choices[0]);
  const std::map<std::string, int64_t> expected = {{"column_threads", 8}, {"column_elements", 4},
                                                   {"row_threads", 4},    {"row_elements", 4},
                                                   {"piece", 8},          {"parts", 4}};
  for (size_t k = 0; k < values.size(); ++k)
    if (const auto found = expected.find(phase.knobs[k].name); found != expected.end())
      values[k] = found->second;
  Schedule schedule{.lowering = "direct"};
  phase.write(values, schedule);
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule), "");
  ExpectSchedule("cuda_tile_parts", schedule);
}

// A long reduction with few blocks would leave the device mostly idle without parts.
TEST(CudaTile, HasPartsWhereBlocksAreFew) {
  const DevicePhase few =
      TilePhase(MustParse(ProductText({.rows = 32, .columns = 64, .length = 8192, .value = ""})),
                ReductionOrder::kAny);
  const Knob* const parts = FindKnob(few, "parts");
  ASSERT_NE(parts, nullptr);
  EXPECT_EQ(parts->choices[0], 1);
  EXPECT_GE(parts->choices[static_cast<size_t>(parts->initial)], 4);
  const DevicePhase many =
      TilePhase(MustParse(ProductText({.rows = 4096, .columns = 4096, .length = 512, .value = ""})),
                ReductionOrder::kAny);
  EXPECT_EQ(FindKnob(many, "parts"), nullptr);
}

// 523 is prime, so the last of several parts is shorter, and padded.
TEST(CudaTile, HasPartsThatNothingDivides) {
  const Compute compute = MustParse(LongProduct(523));
  const DevicePhase phase = TilePhase(compute, ReductionOrder::kAny);
  const Knob* const parts = FindKnob(phase, "parts");
  ASSERT_NE(parts, nullptr);
  EXPECT_GT(parts->choices[static_cast<size_t>(parts->initial)], 1);
  Schedule schedule{.lowering = "direct"};
  phase.WriteInitial(schedule);
  EXPECT_THAT(Print(schedule), HasSubstr("\npad acc.part"));
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule), "") << Print(schedule);
}

TEST(CudaTile, HasNoPartsOfSumsThatAreAddedAsWritten) {
  const DevicePhase phase = TilePhase(MustParse(LongProduct()), ReductionOrder::kAsWritten);
  EXPECT_EQ(FindKnob(phase, "parts"), nullptr);
}

TEST(CudaSplit, PartsAreEquallyLong) {
  EXPECT_THAT(PartCounts(4096, 16), testing::ElementsAre(2, 4, 8, 16, 32, 64));
  EXPECT_THAT(PartCounts(768, 16), testing::ElementsAre(2, 4, 8, 16, 32));
  EXPECT_THAT(PartCounts(513, 16), testing::ElementsAre(3, 9, 19));
  EXPECT_THAT(PartCounts(509, 16), testing::IsEmpty());
  EXPECT_THAT(PartCounts(31, 16), testing::IsEmpty());
}

TEST(CudaSplit, TheLastPartMayBeShorter) {
  EXPECT_THAT(PartLengths(512, 16, 16), testing::ElementsAre(256, 128, 64, 32, 16));
  EXPECT_THAT(PartLengths(523, 16, 16), testing::ElementsAre(272, 144, 80, 48, 32));
  EXPECT_THAT(PartLengths(31, 16, 16), testing::IsEmpty());
}

TEST(DeviceCost, GrowsWithWhatIsDone) {
  const Accelerator device = Gpu();
  PhaseCost cost{.blocks = 4, .use = {.threads = 256}, .clocks = 1e6};
  const double two_each = EstimateSeconds(cost, device);
  cost.blocks = 5;
  EXPECT_GT(EstimateSeconds(cost, device), two_each);
  cost.use.shared_bytes = device.shared_bytes + 1;
  EXPECT_GT(EstimateSeconds(cost, device), 1e9);
}

std::string AnalyticText(std::string_view compute) {
  const auto sketches =
      SketchesFor({{{"direct", MustParse(compute)}}, SmallGpu(), ReductionOrder::kAny});
  EXPECT_EQ(sketches[0].name, "cuda_elements");
  const Schedule schedule = sketches[0].Fill(sketches[0].InitialDecisions());
  EXPECT_EQ(ScheduleChecker(MustParse(compute)).Outcome(schedule), "");
  return Print(schedule);
}

TEST(CudaElements, AreVectorsOfNeighbours) {
  EXPECT_EQ(AnalyticText(R"(compute chain {
  input A: f32[64, 512]
  input B: f32[64, 512]
  output C: f32[64, 512]
  C[i: 64, j: 512]:
    C[i, j] = A[i, j] * B[i, j]
})"),
            R"(lower direct
reorder C.i C.j
fuse C.i C.j as C.flat1
split C.flat1 2 256 4
reorder C.flat1.2 C.flat1.1
unroll C.flat1.1
vectorize C.flat1.3
bind C.flat1.0 grid.x
bind C.flat1.2 block.x
)");
}

// A thread computes eight bfloat16 numbers, which have 16 bytes.
TEST(CudaElements, HaveAsManyLanesAsFillSixteenBytes) {
  EXPECT_EQ(AnalyticText(HalfBroadcastText(64, 256)),
            R"(lower direct
reorder C.i C.j
split C.j 8
fuse C.i C.j.0 as C.flat1
split C.flat1 256
vectorize C.j.1
bind C.flat1.0 grid.x
bind C.flat1.1 block.x
)");
}

TEST(CudaElements, AreTurnedInSquares) {
  EXPECT_EQ(AnalyticText(TransposedText(64, 96)),
            R"(lower direct
split C.i 16 4
split C.j 12 4
reorder C.i.0 C.j.0 C.i.1 C.j.1 C.i.2 C.j.2
fuse C.i.1 C.j.1 as C.threads1
bind C.i.0 grid.y
bind C.j.0 grid.x
bind C.threads1 block.x
unroll C.i.2
vectorize C.j.2
)");
}

TEST(CudaElements, MayBeSums) {
  EXPECT_EQ(AnalyticText(ColumnSumsText(12, 4096)),
            R"(lower direct
cache_write s
split s.j 4
reorder s.j.0 s.i s.j.1
compute_at s.init s.j.0
compute_at s.store s.j.0
split s.j.0 128
stage s.cache register s.j.0.1
bind s.j.0.0 grid.x
bind s.j.0.1 block.x
vectorize s.j.1
vectorize s.init.j.1
vectorize s.store.j.1
)");
}

}  // namespace
}  // namespace tunec::test
