// Tests of the steps of the GPU sketches, and of their chosen numbers.
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
#include "tests/schedule/harness.h"
#include "tests/schedule/programs.h"

namespace tunec::test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kProduct = R"(compute product {
  input A: f32[64, 32]
  weight B: f32[32, 96] constant
  output C: f32[64, 96]
  workspace acc: f32[64, 96]
  acc[i: 64, j: 96, k: 32 reduction]:
    acc[i, j] sum= A[i, k] * B[k, j]
  C[i: 64, j: 96]:
    C[i, j] = max(acc[i, j], 0.0)
})";

constexpr std::string_view kConvolution = R"(compute convolution {
  input X: f32[1, 8, 14, 14]
  weight W: f32[16, 8, 3, 3] constant
  output Y: f32[1, 16, 14, 14]
  workspace acc: f32[1, 16, 14, 14]
  acc[m: 16, oh: 14, ow: 14, ic: 8 reduction, kh: 3 reduction, kw: 3 reduction] where oh + kh - 1 >= 0, -oh - kh + 14 >= 0, ow + kw - 1 >= 0, -ow - kw + 14 >= 0:
    acc[0, m, oh, ow] sum= X[0, ic, oh + kh - 1, ow + kw - 1] * W[m, ic, kh, kw]
  Y[m: 16, oh: 14, ow: 14]:
    Y[0, m, oh, ow] = max(acc[0, m, oh, ow], 0.0)
})";

Accelerator Gpu() { return WithAllFacts(*SmallGpu().device); }

std::string TileText(std::string_view compute, const CudaTileChoice& choice) {
  const auto plan = MakeCudaTilePlan(MustParse(compute));
  EXPECT_TRUE(plan);
  if (!plan) return "";
  EXPECT_EQ(Fitted(*plan, choice, Gpu()).Threads(), choice.Threads());
  Schedule schedule{.lowering = "direct"};
  WriteCudaTile(*plan, choice, schedule);
  EXPECT_EQ(ScheduleChecker(MustParse(compute)).Outcome(schedule), "");
  return Print(schedule);
}

TEST(CudaTile, OfAProductSharesBothOperands) {
  EXPECT_EQ(TileText(kProduct, {.column_threads = 8,
                                .column_elements = 4,
                                .row_threads = 8,
                                .row_elements = 4,
                                .piece = 8}),
            R"(lower direct
copy A acc j 32
copy B acc i 32
split acc.i 32
split acc.j 32
split acc.k 8
reorder acc.i.0 acc.j.0 acc.k.0 acc.i.1 acc.j.1 acc.k.1
compute_at acc.init acc.j.0
compute_at C acc.j.0
compute_at A.copy acc.k.0
compute_at B.copy acc.k.0
stage acc register acc.j.0
stage A.copy shared acc.k.0 0 2 1
stage B.copy shared acc.k.0 0 1 2
split acc.i.1 4
split acc.j.1 4
reorder acc.i.1.0 acc.j.1.0 acc.k.1 acc.i.1.1 acc.j.1.1
fuse acc.i.1.0 acc.j.1.0 as acc.threads1
unroll acc.i.1.1
vectorize acc.j.1.1
split acc.init.i.1 4
split acc.init.j.1 4
reorder acc.init.i.1.0 acc.init.j.1.0 acc.init.i.1.1 acc.init.j.1.1
fuse acc.init.i.1.0 acc.init.j.1.0 as acc.init.threads1
unroll acc.init.i.1.1
vectorize acc.init.j.1.1
split C.i.1 4
split C.j.1 4
reorder C.i.1.0 C.j.1.0 C.i.1.1 C.j.1.1
fuse C.i.1.0 C.j.1.0 as C.threads1
unroll C.i.1.1
vectorize C.j.1.1
split A.copy.i.1 8
reorder A.copy.i.1.1 A.copy.k.1 A.copy.i.1.0
fuse A.copy.i.1.1 A.copy.k.1 as A.copy.threads1
unroll A.copy.i.1.0
split B.copy.k.1 2
reorder B.copy.k.1.1 B.copy.j.1 B.copy.k.1.0
fuse B.copy.k.1.1 B.copy.j.1 as B.copy.threads1
unroll B.copy.k.1.0
pipeline acc.k.0 2
bind acc.threads1 block.x
bind acc.init.threads1 block.x
bind C.threads1 block.x
bind A.copy.threads1 block.x
bind B.copy.threads1 block.x
unroll acc.k.1
bind acc.i.0 grid.y
bind acc.j.0 grid.x
)");
}

// Only W is copied to shared memory. The windows of X are read from global memory. Columns have
// conditions, so a thread has one column.
TEST(CudaTile, OfAConvolutionSharesWeights) {
  EXPECT_EQ(TileText(kConvolution, {.column_threads = 14,
                                    .column_elements = 1,
                                    .outer_columns = 2,
                                    .row_threads = 2,
                                    .row_elements = 4,
                                    .piece = 4}),
            R"(lower direct
copy W acc oh 2
split acc.m 8
split acc.oh 2
split acc.ow 14
split acc.ic 4
reorder acc.m.0 acc.oh.0 acc.ow.0 acc.ic.0 acc.m.1 acc.oh.1 acc.ow.1 acc.ic.1 acc.kh acc.kw
compute_at acc.init acc.ow.0
compute_at Y acc.ow.0
compute_at W.copy acc.ic.0
stage acc register acc.ow.0
stage W.copy shared acc.ic.0 0 2 3 4 1
split acc.m.1 4
reorder acc.m.1.0 acc.oh.1 acc.ow.1 acc.ic.1 acc.kh acc.kw acc.m.1.1
fuse acc.m.1.0 acc.oh.1 as acc.threads1
fuse acc.threads1 acc.ow.1 as acc.threads2
unroll acc.m.1.1
split acc.init.m.1 4
reorder acc.init.m.1.0 acc.init.oh.1 acc.init.ow.1 acc.init.m.1.1
fuse acc.init.m.1.0 acc.init.oh.1 as acc.init.threads1
fuse acc.init.threads1 acc.init.ow.1 as acc.init.threads2
unroll acc.init.m.1.1
split Y.m.1 4
reorder Y.m.1.0 Y.oh.1 Y.ow.1 Y.m.1.1
fuse Y.m.1.0 Y.oh.1 as Y.threads1
fuse Y.threads1 Y.ow.1 as Y.threads2
unroll Y.m.1.1
reorder W.copy.ic.1 W.copy.kh W.copy.kw W.copy.m.1
fuse W.copy.ic.1 W.copy.kh as W.copy.threads1
fuse W.copy.threads1 W.copy.kw as W.copy.threads2
unroll W.copy.m.1
pipeline acc.ic.0 2
bind acc.threads2 block.x
bind acc.init.threads2 block.x
bind Y.threads2 block.x
bind W.copy.threads2 block.x
unroll acc.kw
unroll acc.kh
unroll acc.ic.1
bind acc.m.0 grid.z
bind acc.oh.0 grid.y
bind acc.ow.0 grid.x
)");
}

// A window is as long as the tile plus the taps beyond it.
TEST(CudaTile, OfAConvolutionMayShareWindows) {
  EXPECT_EQ(TileText(kConvolution, {.column_threads = 14,
                                    .column_elements = 1,
                                    .outer_columns = 2,
                                    .row_threads = 2,
                                    .row_elements = 4,
                                    .piece = 4,
                                    .windows = true}),
            R"(lower direct
copy X acc m 8 oh 2 ow 14
copy W acc oh 2
split acc.m 8
split acc.oh 2
split acc.ow 14
split acc.ic 4
reorder acc.m.0 acc.oh.0 acc.ow.0 acc.ic.0 acc.m.1 acc.oh.1 acc.ow.1 acc.ic.1 acc.kh acc.kw
compute_at acc.init acc.ow.0
compute_at Y acc.ow.0
compute_at X.copy acc.ic.0
compute_at W.copy acc.ic.0
stage acc register acc.ow.0
stage X.copy shared acc.ic.0 0 1 2 3 4 5 6
stage W.copy shared acc.ic.0 0 2 3 4 1
split acc.m.1 4
reorder acc.m.1.0 acc.oh.1 acc.ow.1 acc.ic.1 acc.kh acc.kw acc.m.1.1
fuse acc.m.1.0 acc.oh.1 as acc.threads1
fuse acc.threads1 acc.ow.1 as acc.threads2
unroll acc.m.1.1
split acc.init.m.1 4
reorder acc.init.m.1.0 acc.init.oh.1 acc.init.ow.1 acc.init.m.1.1
fuse acc.init.m.1.0 acc.init.oh.1 as acc.init.threads1
fuse acc.init.threads1 acc.init.ow.1 as acc.init.threads2
unroll acc.init.m.1.1
split Y.m.1 4
reorder Y.m.1.0 Y.oh.1 Y.ow.1 Y.m.1.1
fuse Y.m.1.0 Y.oh.1 as Y.threads1
fuse Y.threads1 Y.ow.1 as Y.threads2
unroll Y.m.1.1
split X.copy.d2 2
reorder X.copy.d2.1 X.copy.d3 X.copy.ic.1 X.copy.d2.0 X.copy.d0
fuse X.copy.d2.1 X.copy.d3 as X.copy.threads1
unroll X.copy.ic.1
unroll X.copy.d2.0
reorder W.copy.ic.1 W.copy.kh W.copy.kw W.copy.m.1
fuse W.copy.ic.1 W.copy.kh as W.copy.threads1
fuse W.copy.threads1 W.copy.kw as W.copy.threads2
unroll W.copy.m.1
pipeline acc.ic.0 2
bind acc.threads2 block.x
bind acc.init.threads2 block.x
bind Y.threads2 block.x
bind X.copy.threads1 block.x
bind W.copy.threads2 block.x
unroll acc.kw
unroll acc.kh
unroll acc.ic.1
bind acc.m.0 grid.z
bind acc.oh.0 grid.y
bind acc.ow.0 grid.x
)");
}

TEST(CudaTile, RunsBlocksInBands) {
  const std::string text = TileText(kProduct, {.column_threads = 8,
                                               .column_elements = 4,
                                               .row_threads = 4,
                                               .row_elements = 4,
                                               .piece = 8,
                                               .band = 2});
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

// A thread's elements and the tiles divide their dimensions.
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

constexpr std::string_view kOddProduct = R"(compute product {
  input A: f32[37, 43]
  weight B: f32[43, 29] constant
  output C: f32[37, 29]
  acc[i: 37, j: 29, k: 43 reduction]:
    C[i, j] sum= A[i, k] * B[k, j]
})";

// A convolution of every second row and column, with a border.
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

// Windows include borders, so a thread has several columns, and the sum has no conditions.
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
  // The border is 0 times a weight, which may not be finite.
  EXPECT_FALSE(plan(kConvolution, ReductionOrder::kAsWritten));
}

// The schedule is right for all knobs.
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
    for (const std::string_view compute : {kOddProduct, kOddConvolution, kConvolution})
      PaddedText(compute, choice);
    ASSERT_FALSE(HasFailure());
  }
}

constexpr std::string_view kLongProduct = R"(compute product {
  input A: f32[16, 512]
  weight B: f32[512, 32] constant
  output C: f32[16, 32]
  workspace acc: f32[16, 32]
  acc[i: 16, j: 32, k: 512 reduction]:
    acc[i, j] sum= A[i, k] * B[k, j]
  C[i: 16, j: 32]:
    C[i, j] = max(acc[i, j], 0.0)
})";

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

// There are two phases: partial sums of each part, and their addition in order.
TEST(CudaTile, MakesSumsInParts) {
  const Compute compute = MustParse(kLongProduct);
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
  EXPECT_EQ(Print(schedule), R"(lower direct
reduce_split acc k 128 outer
pack acc.part 2 0 1
cache_write acc.part
copy A acc.part ko 1
copy B acc.part ko 1
split acc.part.j 32
split acc.part.ki 8
reorder acc.part.ko acc.part.j.0 acc.part.ki.0 acc.part.i acc.part.j.1 acc.part.ki.1
compute_at acc.part.init acc.part.j.0
compute_at acc.part.store acc.part.j.0
compute_at A.copy acc.part.ki.0
compute_at B.copy acc.part.ki.0
stage acc.part.cache register acc.part.j.0
stage A.copy shared acc.part.ki.0 0 2 1
stage B.copy shared acc.part.ki.0 0 1 2
split acc.part.i 4
split acc.part.j.1 4
reorder acc.part.i.0 acc.part.j.1.0 acc.part.ki.1 acc.part.i.1 acc.part.j.1.1
fuse acc.part.i.0 acc.part.j.1.0 as acc.part.threads1
unroll acc.part.i.1
vectorize acc.part.j.1.1
split acc.part.init.i 4
split acc.part.init.j.1 4
reorder acc.part.init.i.0 acc.part.init.j.1.0 acc.part.init.i.1 acc.part.init.j.1.1
fuse acc.part.init.i.0 acc.part.init.j.1.0 as acc.part.init.threads1
unroll acc.part.init.i.1
vectorize acc.part.init.j.1.1
split acc.part.store.i 4
split acc.part.store.j.1 4
reorder acc.part.store.i.0 acc.part.store.j.1.0 acc.part.store.i.1 acc.part.store.j.1.1
fuse acc.part.store.i.0 acc.part.store.j.1.0 as acc.part.store.threads1
unroll acc.part.store.i.1
vectorize acc.part.store.j.1.1
split A.copy.i 4
reorder A.copy.i.1 A.copy.ki.1 A.copy.i.0
fuse A.copy.i.1 A.copy.ki.1 as A.copy.threads1
unroll A.copy.i.0
reorder B.copy.j.1 B.copy.ki.1
unroll B.copy.ki.1
bind acc.part.threads1 block.x
bind acc.part.init.threads1 block.x
bind acc.part.store.threads1 block.x
bind A.copy.threads1 block.x
bind B.copy.j.1 block.x
unroll acc.part.ki.1
bind acc.part.ko grid.y
bind acc.part.j.0 grid.x
reorder acc.i acc.j
compute_at acc.init acc.j
compute_at C acc.j
fuse acc.i acc.j as acc.flat1
split acc.flat1 256
stage acc register acc.flat1.1
bind acc.flat1.0 grid.x
bind acc.flat1.1 block.x
unroll acc.kp
)");
}

// A long reduction with few blocks would leave the device mostly idle without parts.
TEST(CudaTile, HasPartsWhereBlocksAreFew) {
  const DevicePhase few = TilePhase(MustParse(R"(compute product {
  input A: f32[32, 8192]
  input B: f32[8192, 64]
  output C: f32[32, 64]
  C[i: 32, j: 64, k: 8192 reduction]:
    C[i, j] sum= A[i, k] * B[k, j]
})"),
                                    ReductionOrder::kAny);
  const Knob* const parts = FindKnob(few, "parts");
  ASSERT_NE(parts, nullptr);
  EXPECT_EQ(parts->choices[0], 1);
  EXPECT_GE(parts->choices[static_cast<size_t>(parts->initial)], 4);
  const DevicePhase many = TilePhase(MustParse(R"(compute product {
  input A: f32[4096, 512]
  input B: f32[512, 4096]
  output C: f32[4096, 4096]
  C[i: 4096, j: 4096, k: 512 reduction]:
    C[i, j] sum= A[i, k] * B[k, j]
})"),
                                     ReductionOrder::kAny);
  EXPECT_EQ(FindKnob(many, "parts"), nullptr);
}

// No number of parts divides 523 iterations. The last part is shorter, and padded.
TEST(CudaTile, HasPartsThatNothingDivides) {
  std::string text(kLongProduct);
  for (size_t at = 0; (at = text.find("512", at)) != std::string::npos;) text.replace(at, 3, "523");
  const Compute compute = MustParse(text);
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
  const DevicePhase phase = TilePhase(MustParse(kLongProduct), ReductionOrder::kAsWritten);
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

// Eight bfloat16 numbers have 16 bytes.
TEST(CudaElements, HaveAsManyLanesAsFillSixteenBytes) {
  EXPECT_EQ(AnalyticText(R"(compute broadcast {
  input A: bf16[64, 256]
  input b: bf16[256]
  output C: bf16[64, 256]
  C[i: 64, j: 256]:
    C[i, j] = bf16(f32(A[i, j]) + f32(b[j]))
})"),
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
  EXPECT_EQ(AnalyticText(R"(compute turned {
  input A: f32[96, 64]
  output C: f32[64, 96]
  C[i: 64, j: 96]:
    C[i, j] = A[j, i]
})"),
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
  EXPECT_EQ(AnalyticText(R"(compute columns {
  input A: f32[12, 4096]
  output C: f32[4096]
  s[j: 4096, i: 12 reduction]:
    C[j] sum= A[i, j]
})"),
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
