// Tests of the GPU schedules of products by matrix instructions. The tests check steps, chosen
// sizes and rejections, and compare schedules with the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "ir/loop_nest.h"
#include "schedule/sketches/cuda_tensor_plan.h"
#include "schedule/sketches/cuda_tensor_writer.h"
#include "schedule/sketches/device_cost.h"
#include "tests/programs/products.h"
#include "tests/programs/replaced.h"
#include "tests/schedule/expect_schedule.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Accelerator Gpu() { return WithAllFacts(*SmallGpu().device); }

// The types of the operands and of the sum.
struct Types {
  std::string operand = "bf16";
  std::string sum = "f32";
};

// Returns the text of twice the product of A (64 x 64) and B (64 x 48). The index lists `a` and `b`
// can transpose the operands.
std::string Product(const Types& types, const std::string& a = "i, k",
                    const std::string& b = "k, j") {
  return ProductText({.rows = 64,
                      .columns = 48,
                      .length = 64,
                      .left = {.type = types.operand, .index = a},
                      .right = {.type = types.operand, .index = b, .weight = "constant"},
                      .sum = types.sum,
                      .result = types.sum,
                      .value = "acc[i, j] + acc[i, j]"});
}

std::optional<CudaTensorPlan> PlanOf(const std::string& compute, const RoundingFreedom& rounding) {
  return MakeCudaTensorPlan(MustParse(compute), Gpu(), rounding);
}

Schedule WithChoice(const std::string& compute, const CudaTensorChoice& choice,
                    const RoundingFreedom& rounding = AnyRounding()) {
  const auto plan = PlanOf(compute, rounding);
  EXPECT_TRUE(plan);
  Schedule schedule{.lowering = "direct"};
  if (plan) WriteCudaTensor(*plan, Fitted(*plan, choice, Gpu()), schedule);
  return schedule;
}

// Compares the schedule with the interpreter. Returns the difference or an error, with the text of
// the schedule, or an empty string if the results agree.
std::string Wrong(const std::string& compute, const Schedule& schedule,
                  const RoundingFreedom& rounding = AnyRounding()) {
  const std::string outcome = ScheduleChecker(MustParse(compute)).Outcome(schedule, rounding);
  return outcome.empty() ? "" : outcome + "\n" + Print(schedule);
}

TEST(CudaTensor, GoldenMultipliesTilesOfWarps) {
  const std::string compute = Product({});
  const Schedule schedule = WithChoice(compute, {.row_warps = 2,
                                                 .column_warps = 1,
                                                 .row_tiles = 1,
                                                 .column_tiles = 2,
                                                 .steps = 1,
                                                 .stages = 3});
  EXPECT_EQ(Wrong(compute, schedule), "");
  ExpectSchedule("cuda_tensor", schedule);
}

TEST(CudaTensor, MultipliesEveryTypeEitherWayRound) {
  for (const Types& types : {Types{"bf16", "f32"}, {"f16", "f32"}, {"f32", "f32"}, {"i8", "i32"}})
    for (const std::string a : {"i, k", "k, i"})
      for (const std::string b : {"k, j", "j, k"}) {
        const std::string compute = Product(types, a, b);
        EXPECT_EQ(Wrong(compute, WithChoice(compute, {})), "");
      }
}

TEST(CudaTensor, RunsBlocksInBands) {
  const std::string compute = Product({});
  const Schedule schedule =
      WithChoice(compute, {.row_warps = 1, .column_warps = 1, .row_tiles = 1, .band = 2});
  EXPECT_THAT(Print(schedule), HasSubstr("swizzle acc.i.0 acc.j.0 2\n"));
  EXPECT_EQ(Wrong(compute, schedule), "");
}

CudaTensorChoice RandomChoice(std::mt19937& random) {
  const auto one_of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  return {.row_warps = one_of({1, 2, 4, 8}),
          .column_warps = one_of({1, 2, 4, 8}),
          .row_tiles = one_of({1, 2, 4, 8}),
          .column_tiles = one_of({1, 2, 4, 8, 16}),
          .steps = one_of({1, 2, 4}),
          .stages = one_of({1, 2, 3, 4}),
          .band = one_of({1, 2, 4, 8})};
}

// Random values of all knobs give legal and correct schedules after fitting.
TEST(CudaTensor, IsRightWithEveryChoice) {
  std::mt19937 random(3);
  const std::array<std::string, 4> computes = {Product({}), Product({"f32", "f32"}),
                                               Product({"i8", "i32"}, "i, k", "k, j"),
                                               Product({"f16", "f32"}, "k, i", "j, k")};
  for (int i = 0; i < 40; ++i) {
    const std::string& compute = computes.at(random() % computes.size());
    ASSERT_EQ(Wrong(compute, WithChoice(compute, RandomChoice(random))), "");
  }
}

// Returns the text of twice the product of A (37 x 51) and B (51 x 29). The sizes of rows are
// multiples of 4 bytes only for float32.
std::string OddProduct(const Types& types, const std::string& a = "i, k",
                       const std::string& b = "k, j") {
  std::string product = Replaced(Product(types, a, b), "k: 64", "k: 51");
  product = Replaced(product, "input A: " + types.operand + "[64, 64",
                     "input A: " + types.operand + (a == "i, k" ? "[64, 51" : "[51, 64"));
  product = Replaced(product, "weight B: " + types.operand + (b == "k, j" ? "[64, 48" : "[48, 64"),
                     "weight B: " + types.operand + (b == "k, j" ? "[51, 48" : "[48, 51"));
  return Replaced(Replaced(product, "64", "37"), "48", "29");
}

TEST(CudaTensor, PadsWhatTilesDoNotDivide) {
  std::mt19937 random(4);
  for (const Types& types : {Types{"bf16", "f32"}, {"f32", "f32"}, {"i8", "i32"}})
    for (const std::string a : {"i, k", "k, i"})
      for (const std::string b : {"k, j", "j, k"}) {
        const std::string compute = OddProduct(types, a, b);
        EXPECT_FALSE(PlanOf(compute, AnyRounding()));
        const auto plan = MakePaddedCudaTensorPlan(MustParse(compute), Gpu(), AnyRounding());
        ASSERT_TRUE(plan) << compute;
        for (int i = 0; i < 3; ++i) {
          Schedule schedule{.lowering = "direct"};
          WriteCudaTensor(*plan, Fitted(*plan, RandomChoice(random), Gpu()), schedule);
          EXPECT_THAT(Print(schedule), HasSubstr("\npad acc i "));
          ASSERT_EQ(Wrong(compute, schedule), "");
        }
      }
}

// Tiles that divide all dimensions need no padding, unlike tiles of 32 columns for 48 columns.
TEST(CudaTensor, PadsNothingThatTilesDivide) {
  const auto plan = MakePaddedCudaTensorPlan(MustParse(Product({})), Gpu(), AnyRounding());
  ASSERT_TRUE(plan);
  EXPECT_FALSE(PaddingOf(
      *plan, {.row_warps = 2, .column_warps = 2, .row_tiles = 2, .column_tiles = 1, .steps = 2}));
  const auto pad = PaddingOf(
      *plan, {.row_warps = 2, .column_warps = 2, .row_tiles = 2, .column_tiles = 2, .steps = 2});
  ASSERT_TRUE(pad);
  EXPECT_EQ(*pad, (PadStep{"acc", {{"j", 32}}}));
}

// The width of a copy divides the length of the rows, so that copies are aligned in every row.
TEST(CudaTensor, CopiesNarrowRowsInNarrowPieces) {
  const auto chunk = [](const std::string& length) {
    const std::string compute = Replaced(Product({}, "i, k", "j, k"), "64", length);
    const auto plan = MakePaddedCudaTensorPlan(MustParse(compute), Gpu(), AnyRounding());
    EXPECT_TRUE(plan);
    return plan ? plan->left.chunk : 0;
  };
  EXPECT_EQ(chunk("72"), 8);
  EXPECT_EQ(chunk("76"), 4);
  EXPECT_EQ(chunk("78"), 2);
  EXPECT_EQ(chunk("79"), 1);
}

TEST(CudaTensor, FitsTheDevice) {
  const auto plan = PlanOf(Product({}), AnyRounding());
  ASSERT_TRUE(plan);
  Accelerator small = Gpu();
  small.shared_bytes = 4096;
  small.registers = 16384;
  const CudaTensorChoice fitted = Fitted(*plan,
                                         {.row_warps = 8,
                                          .column_warps = 8,
                                          .row_tiles = 8,
                                          .column_tiles = 16,
                                          .steps = 4,
                                          .stages = 4},
                                         small);
  const int64_t rows = TileExtent(*plan, fitted, plan->tile.row.iterator);
  const int64_t columns = TileExtent(*plan, fitted, plan->tile.column.iterator);
  const int64_t piece = TileExtent(*plan, fitted, plan->tile.piecewise);
  EXPECT_EQ(64 % rows, 0);
  EXPECT_EQ(48 % columns, 0);
  EXPECT_EQ(64 % piece, 0);
  EXPECT_LE(2 * StagesOf(*plan, fitted) * piece * (rows + columns), small.shared_bytes);
  EXPECT_LE(4 * fitted.row_tiles * fitted.column_tiles, 128);
}

// The best choice for 132 processors has more blocks than the best choice for one processor.
TEST(CudaTensor, GivesAllProcessorsWork) {
  const std::string large = Replaced(Replaced(Product({}), "64", "512"), "48", "384");
  const auto plan = PlanOf(large, AnyRounding());
  ASSERT_TRUE(plan);
  Accelerator device = Gpu();
  const auto blocks = [&] {
    const CudaTensorChoice best = BestCudaTensor(*plan, device);
    return 512 / TileExtent(*plan, best, plan->tile.row.iterator) * 384 /
           TileExtent(*plan, best, plan->tile.column.iterator);
  };
  device.processors = 1;
  const int64_t few = blocks();
  device.processors = 132;
  EXPECT_GT(blocks(), few);
}

// Matrix instructions can keep a processor busy with fewer threads than multiply-adds.
TEST(DeviceCost, CountsTheThreadsThatKeepAProcessorBusy) {
  const Accelerator device = Gpu();
  PhaseCost cost{.blocks = 2, .use = {.threads = 128}, .clocks = 1e6};
  const double of_threads = EstimateSeconds(cost, device);
  cost.busy_threads = 128;
  EXPECT_LT(EstimateSeconds(cost, device), of_threads);
}

TEST(CudaTensor, IsForWholeTilesOfWhatTheContractLetsItMultiply) {
  EXPECT_TRUE(PlanOf(Product({}), ReductionOrder::kAny));
  EXPECT_FALSE(PlanOf(Product({}), ReductionOrder::kAsWritten));
  EXPECT_TRUE(PlanOf(Product({"i8", "i32"}), ReductionOrder::kAsWritten));
  EXPECT_FALSE(PlanOf(Product({"f32", "f32"}), ReductionOrder::kAny));
  EXPECT_TRUE(PlanOf(Product({"f32", "f32"}), AnyRounding()));
  EXPECT_FALSE(PlanOf(Product({"u8", "i32"}), AnyRounding()));
  for (const std::string extent : {"64", "48"}) {
    const std::string odd = Replaced(Product({}), extent, "50");
    EXPECT_FALSE(PlanOf(odd, AnyRounding())) << extent;
    EXPECT_TRUE(MakePaddedCudaTensorPlan(MustParse(odd), Gpu(), AnyRounding())) << extent;
  }
  // Without padding, an operand's rows must be multiples of a copy's 16 bytes.
  EXPECT_FALSE(PlanOf(Replaced(Product({"i8", "i32"}), "48", "40"), AnyRounding()));
  EXPECT_TRUE(PlanOf(Replaced(Product({"i8", "i32"}, "i, k", "j, k"), "48", "40"), AnyRounding()));
  Accelerator older = Gpu();
  older.features.clear();
  EXPECT_FALSE(MakeCudaTensorPlan(MustParse(Product({})), older, AnyRounding()));
}

// Returns the sketches for a GPU of one processor. There a phase that rounds operands is worthwhile
// even for small products.
std::vector<Sketch> SketchesUnder(const std::string& compute, const RoundingFreedom& rounding) {
  Target target = SmallGpu();
  target.device->processors = 1;
  return SketchesFor({{{"direct", MustParse(compute)}}, target, rounding});
}

// Returns the text of the initial schedule of the first sketch, which must be cuda_tensor. Checks
// the results of the schedule.
std::string AnalyticText(const std::string& compute, const RoundingFreedom& rounding) {
  const Sketch sketch = SketchesUnder(compute, rounding)[0];
  EXPECT_EQ(sketch.name, "cuda_tensor");
  const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
  EXPECT_EQ(Wrong(compute, schedule, rounding), "");
  return Print(schedule);
}

// A batched product. The following operations use a workspace tensor, and the output has another
// type than the sum.
const std::string kBatched = R"(compute batched {
  input A: bf16[3, 64, 64]
  input B: bf16[3, 64, 64]
  input b: f32[64]
  output C: bf16[3, 64, 64]
  workspace acc: f32[3, 64, 64]
  workspace t: f32[3, 64, 64]
  acc[h: 3, i: 64, j: 64, k: 64 reduction]:
    acc[h, i, j] sum= f32(A[h, i, k]) * f32(B[h, j, k])
  t[h: 3, i: 64, j: 64]:
    t[h, i, j] = acc[h, i, j] + b[j]
  C[h: 3, i: 64, j: 64]:
    C[h, i, j] = bf16(max(t[h, i, j], 0.0))
})";

// A pointwise convolution with channels last in memory.
const std::string kPointwise = R"(compute pointwise {
  input X: bf16[1, 32, 4, 32] layout [1, 4, 32, 32] (i, j, k, l) -> [i, k, l, j]
  weight W: bf16[64, 32, 1, 1] constant
  output Y: f32[1, 64, 4, 32] layout [1, 4, 32, 64] (i, j, k, l) -> [i, k, l, j]
  workspace acc: f32[1, 64, 4, 32] layout [1, 4, 32, 64] (i, j, k, l) -> [i, k, l, j]
  acc[m: 64, oh: 4, ow: 32, ic: 32 reduction]:
    acc[0, m, oh, ow] sum= f32(X[0, ic, oh, ow]) * f32(W[m, ic, 0, 0])
  Y[m: 64, oh: 4, ow: 32]:
    Y[0, m, oh, ow] = max(acc[0, m, oh, ow], 0.0)
})";

TEST(CudaTensorSketch, IsTheFirstOfProducts) {
  EXPECT_THAT(AnalyticText(Product({}), ReductionOrder::kAny), HasSubstr("mma.m16n8k16.bf16"));
  EXPECT_THAT(AnalyticText(Product({"f16", "f32"}), ReductionOrder::kAny),
              HasSubstr("mma.m16n8k16.f16"));
  EXPECT_THAT(AnalyticText(Product({"i8", "i32"}), ReductionOrder::kAsWritten),
              HasSubstr("mma.m16n8k32.s8"));
  EXPECT_THAT(AnalyticText(kBatched, ReductionOrder::kAny), HasSubstr("inline t\n"));
  EXPECT_THAT(AnalyticText(kPointwise, ReductionOrder::kAny), HasSubstr("mma.m16n8k16.bf16"));
}

TEST(CudaTensorSketch, RoundsFloat32WhereTheContractAllowsIt) {
  const std::string product = Replaced(Replaced(Product({"f32", "f32"}), "64", "128"), "48", "96");
  RoundingFreedom tf32 = ReductionOrder::kAny;
  tf32.tf32_operands = true;
  EXPECT_THAT(AnalyticText(product, tf32), HasSubstr("mma.m16n8k8.tf32"));
  RoundingFreedom bf16 = ReductionOrder::kAny;
  bf16.min_bf16_parts = 1;
  const std::string rounded = AnalyticText(product, bf16);
  EXPECT_THAT(rounded, HasSubstr("precision acc bf16 1\n"));
  EXPECT_THAT(rounded, HasSubstr("copy A.bf16 acc"));
  EXPECT_THAT(rounded, HasSubstr("storage_order B.bf16 64\n"));
  EXPECT_THAT(rounded, HasSubstr("bind A.bf16."));
  const std::string long_product = Replaced(product, "96", "128");
  const std::string three = AnalyticText(long_product, ReductionOrder::kAny);
  EXPECT_THAT(three, HasSubstr("precision acc.part bf16 3\n"));
  EXPECT_THAT(three, HasSubstr("stage acc.part fragment acc.part.ko 2 0 1\n"));
  EXPECT_THAT(three, HasSubstr("stage acc register acc.part.j.0\n"));
  RoundingFreedom two = ReductionOrder::kAny;
  two.min_bf16_parts = 2;
  EXPECT_THAT(AnalyticText(long_product, two), HasSubstr("precision acc.part bf16 2\n"));
  EXPECT_EQ(SketchesUnder(product, ReductionOrder::kAsWritten)[0].name, "cuda_tile");
}

std::vector<std::string> NamesUnder(const std::string& compute, const RoundingFreedom& rounding) {
  std::vector<std::string> names;
  for (const Sketch& sketch : SketchesUnder(compute, rounding)) names.push_back(sketch.name);
  return names;
}

TEST(CudaTensorSketch, IsOfferedBesideThreads) {
  EXPECT_THAT(NamesUnder(Product({}), AnyRounding()),
              ElementsAre("cuda_tensor", "cuda_tile", "blocks", "naive"));
  EXPECT_THAT(NamesUnder(Product({}), ReductionOrder::kAsWritten),
              ElementsAre("cuda_tile", "blocks", "naive"));
}

TEST(CudaTensorSketch, PadsWhatTilesDoNotDivide) {
  EXPECT_THAT(AnalyticText(Replaced(Product({}), "48", "50"), AnyRounding()),
              HasSubstr("\npad acc j "));
  // Padding adds products with 0, which are 0 for integers. Every accuracy mode allows them.
  EXPECT_THAT(AnalyticText(OddProduct({"i8", "i32"}), ReductionOrder::kAsWritten),
              HasSubstr("\npad acc i "));
}

// Two products with a rounding between them. Matrix instructions or multiply-adds of threads can
// compute each product.
const std::string kTwoProducts = R"(compute two {
  input A: bf16[64, 64]
  input B: bf16[64, 64]
  input D: bf16[64, 64]
  output C: bf16[64, 64]
  workspace acc: f32[64, 64]
  workspace t: bf16[64, 64]
  workspace sum: f32[64, 64]
  acc[i: 64, j: 64, k: 64 reduction]:
    acc[i, j] sum= f32(A[i, k]) * f32(B[k, j])
  t[i: 64, j: 64]:
    t[i, j] = bf16(acc[i, j])
  sum[i: 64, j: 64, k: 64 reduction]:
    sum[i, j] sum= f32(t[i, k]) * f32(D[k, j])
  C[i: 64, j: 64]:
    C[i, j] = bf16(sum[i, j])
})";

TEST(CudaTensorSketch, OfSeveralPhasesHasFewCombinations) {
  const std::vector<Sketch> sketches = SketchesUnder(kTwoProducts, ReductionOrder::kAny);
  EXPECT_THAT(NamesUnder(kTwoProducts, ReductionOrder::kAny),
              ElementsAre("cuda_tensor", "cuda_tile", "blocks", "naive"));
  for (const Sketch& sketch : sketches)
    EXPECT_EQ(Wrong(kTwoProducts, sketch.Fill(sketch.InitialDecisions()), ReductionOrder::kAny),
              "");
}

// Three products. Matrix instructions are faster for the first product, and they cannot compute the
// second. Threads are faster for the third product, with sums in parts.
const std::string kThreeProducts = R"(compute three {
  input A: bf16[512, 512]
  input B: bf16[512, 512]
  input D: f64[64, 64]
  input E: f64[64, 64]
  input F: bf16[32, 8192]
  input G: bf16[8192, 64]
  output X: f32[512, 512]
  output Y: f64[64, 64]
  output Z: f32[32, 64]
  x[i: 512, j: 512, k: 512 reduction]:
    X[i, j] sum= f32(A[i, k]) * f32(B[k, j])
  y[i: 64, j: 64, k: 64 reduction]:
    Y[i, j] sum= D[i, k] * E[k, j]
  z[i: 32, j: 64, k: 8192 reduction]:
    Z[i, j] sum= f32(F[i, k]) * f32(G[k, j])
})";

TEST(CudaTensorSketch, IsNamedByItsKindsAndWhatWasWanted) {
  Target target = SmallGpu();
  target.device->processors = 132;
  std::vector<std::string> names;
  for (const Sketch& sketch :
       SketchesFor({{{"direct", MustParse(kThreeProducts)}}, target, ReductionOrder::kAny}))
    names.push_back(sketch.name);
  EXPECT_THAT(names, ElementsAre("cuda_tensor+cuda_tile", "cuda_tensor+cuda_tile/cuda_tensor",
                                 "cuda_tile", "naive"));
}

}  // namespace
}  // namespace tunec::test
