// Tests of the sketches on many kinds of Computes. Loops of the initial and of random decisions
// must be valid and agree with the interpreter.
#include "schedule/sketch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "schedule/sketches/sketches.h"
#include "tests/programs/operators.h"
#include "tests/programs/products.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/random_decisions.h"

namespace tunec::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kRandomDecisions = 30;

struct Case {
  Program program;
  Target target;
  std::string name;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Program& program : kPrograms) {
    cases.push_back({program, Avx2(), std::string(program.name) + "_avx2"});
    cases.push_back({program, Avx512(), std::string(program.name) + "_avx512"});
    cases.push_back({program, SmallGpu(), std::string(program.name) + "_gpu"});
  }
  return cases;
}

class SketchTest : public testing::TestWithParam<Case> {
 protected:
  void Expect(const Sketch& sketch, const Decisions& decisions, Tasks tasks) const {
    const Schedule schedule = sketch.Fill(decisions);
    ASSERT_EQ(Print(*ParseSchedule(Print(schedule), "replay")), Print(schedule));
    EXPECT_EQ(*ParseSchedule(Print(schedule), "replay"), schedule);
    EXPECT_EQ(checker_.Outcome(schedule, ReductionOrder::kAny, tasks), "") << sketch.name << "\n"
                                                                           << Print(schedule);
  }

  ScheduleChecker checker_ = ScheduleChecker(MustParse(GetParam().program.text));
};

TEST_P(SketchTest, DecisionsGiveEqualResults) {
  std::mt19937 random(7);
  for (const Sketch& sketch :
       SketchesFor({{{"direct", checker_.compute()}}, GetParam().target, ReductionOrder::kAny})) {
    Expect(sketch, sketch.InitialDecisions(), Tasks::kBothWays);
    const bool has_choices = sketch.SpaceSize() > 1;
    for (int i = 0; i < kRandomDecisions && has_choices && !HasFailure(); ++i) {
      Expect(sketch, RandomDecisions(sketch, random), Tasks::kBackwards);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, SketchTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Sketches, EndWithTheNaiveOne) {
  for (const Program& program : kPrograms) {
    const auto sketches = SketchesOn(MustParse(program.text));
    EXPECT_EQ(sketches.back().name, "naive") << program.name;
    EXPECT_EQ(sketches.back().Fill({}).StepCount(), 0U);
  }
}

TEST(Sketches, NaiveOnlyLeavesOne) {
  const Compute compute = MustParse(kMatmul);
  EXPECT_EQ(
      SketchesFor({{{"direct", compute}}, Avx512(), ReductionOrder::kAny, SketchSet::kNaiveOnly})
          .size(),
      1U);
}

TEST(Sketches, ForADeviceAreItsOwn) {
  const Compute compute = MustParse(kMatmul);
  Target target = Avx512();
  target.device = Accelerator{.kind = "cuda", .name = "sm_90a"};
  const auto sketches = SketchesFor({{{"direct", compute}}, target, ReductionOrder::kAny});
  ASSERT_EQ(sketches.size(), 3U);
  EXPECT_EQ(sketches[0].name, "cuda_tile");
  EXPECT_EQ(sketches[1].name, "blocks");
  EXPECT_EQ(sketches[2].name, "naive");
}

TEST(Sketches, ForADeviceKnowRows) {
  Target target = Avx512();
  target.device = Accelerator{.kind = "cuda", .name = "sm_90a"};
  for (const std::string_view text : ProgramTexts{kSoftmax, kLayerNorm, kSumLast}) {
    const Compute compute = MustParse(text);
    const std::vector<NamedCompute> lowerings = {{"direct", compute}};
    EXPECT_EQ(SketchesFor({lowerings, target, ReductionOrder::kAny})[0].name, "cuda_rows");
    // Threads would sum in another order than the written one.
    for (const Sketch& sketch : SketchesFor({lowerings, target, ReductionOrder::kAsWritten}))
      EXPECT_NE(sketch.name, "cuda_rows");
  }
}

TEST(Sketches, FitTheKindsTheyAreFor) {
  const auto first = [](std::string_view text) {
    return std::string(SketchesOn(MustParse(text))[0].Kind());
  };
  EXPECT_EQ(first(kMatmul), "tile");
  EXPECT_EQ(first(kConv3x3), "tile");
  EXPECT_EQ(first(kMaxPool), "tile");
  EXPECT_EQ(first(kSoftmax), "rows");
  EXPECT_EQ(first(kLayerNorm), "rows");
  EXPECT_EQ(first(kSumLast), "rows");
  EXPECT_EQ(first(kArgMax), "rows");
  EXPECT_EQ(first(kSumAll), "reduce_all");
  EXPECT_EQ(first(kRange), "reduce_all");
  EXPECT_EQ(first(kUniformChain), "pointwise");
  EXPECT_EQ(first(kConcat), "pointwise");
  EXPECT_EQ(first(kTurned), "pointwise");
  EXPECT_EQ(first(kGather), "pointwise");
  EXPECT_EQ(first(kAttention), "stream");
  EXPECT_EQ(first(kStreamedAttention), "stream");
  EXPECT_EQ(first(kGroupNorm), "columns");
  EXPECT_EQ(first(kColumnNorm), "columns");
  EXPECT_EQ(first(kBareProduct), "tile");
  EXPECT_EQ(first(kTriangularProduct), "tile");
}

Sketch SketchOfKind(std::string_view kind, std::string_view compute) {
  for (Sketch& sketch : SketchesOn(MustParse(compute))) {
    if (sketch.Kind() == kind) return std::move(sketch);
  }
  return {};
}

std::string AnalyticText(const Sketch& sketch) {
  return Print(sketch.Fill(sketch.InitialDecisions()));
}

// A name describes the sketch, not its position, so other sketches do not change the name.
TEST(Sketches, HaveNamesOfTheirOwn) {
  for (const Program& program : kPrograms) {
    std::set<std::string> names;
    for (const Sketch& sketch : SketchesOn(MustParse(program.text))) {
      EXPECT_TRUE(names.insert(sketch.name).second) << program.name << " has two " << sketch.name;
    }
  }
  EXPECT_EQ(SketchesOn(MustParse(kMatmul))[0].name, "tile/j");
  std::vector<Sketch> after_others(3), first;
  const std::vector<NamedCompute> matmul = {{"direct", MustParse(kMatmul)}};
  const Target target = Avx512();
  const SketchQuestion question{matmul, target, ReductionOrder::kAny};
  AddTileSketches(matmul[0], question, first);
  AddTileSketches(matmul[0], question, after_others);
  EXPECT_EQ(after_others[3].name, first[0].name);
}

// The iterator is called flat1, as a fused loop might be. The fused loop gets an unused name.
TEST(Sketches, CallFusedLoopsAsNoIteratorIsCalled) {
  const Compute compute = MustParse(R"(compute named {
  input A: f32[16, 12]
  output C: f32[16, 12]
  C[flat1: 16, j: 12]:
    C[flat1, j] = A[flat1, j] + 1.0
})");
  for (const Target& target : {Avx512(), SmallGpu()}) {
    const auto sketches = SketchesFor({{{"direct", compute}}, target, ReductionOrder::kAny});
    ASSERT_GT(sketches.size(), 1U);
    EXPECT_THAT(AnalyticText(sketches[0]), HasSubstr(" as C.flat1_"));
    EXPECT_EQ(ScheduleChecker(compute).Outcome(sketches[0].Fill(sketches[0].InitialDecisions())),
              "");
  }
}

TEST(Sketches, KeepBareSumsInRegisters) {
  const std::string schedule = AnalyticText(SketchOfKind("tile", kBareProduct));
  EXPECT_THAT(schedule, StartsWith("lower direct\ncache_write acc\n"));
  EXPECT_THAT(schedule, HasSubstr("stage acc.cache register acc.i."));
  EXPECT_THAT(schedule, HasSubstr("vectorize acc.store.j.1\n"));
}

// The loop of a triangular sum is unrolled by 4 instead of completely.
TEST(Sketches, UnrollAPieceOfATriangularSum) {
  EXPECT_THAT(AnalyticText(SketchOfKind("tile", kTriangularProduct)),
              HasSubstr("unroll acc.k 4\n"));
}

// If no pattern fits the whole Compute, each loop nest gets a separate pattern.
TEST(Sketches, ComposeOnePatternForEachNest) {
  const std::string products = AnalyticText(SketchOfKind("composed", kTwoProducts));
  EXPECT_THAT(products, HasSubstr("stage t.cache register t.i."));
  EXPECT_THAT(products, HasSubstr("stage acc register acc.i."));
  const std::string both = AnalyticText(SketchOfKind("composed", kRowsAndColumns));
  EXPECT_THAT(both, HasSubstr("reduce_split t j 29 inner\n"));
  EXPECT_THAT(both, HasSubstr("stage y.cache register y.j.0\n"));
  // Each product reads the matrix only once, so packing is not worthwhile.
  EXPECT_THAT(both, Not(HasSubstr("pack")));
}

TEST(Sketches, ComposedOnesGiveEqualResults) {
  std::mt19937 random(7);
  for (const std::string_view text : {kTwoProducts, kRowsAndColumns}) {
    const ScheduleChecker checker(MustParse(text));
    const Sketch sketch = SketchOfKind("composed", text);
    const Schedule first = sketch.Fill(sketch.InitialDecisions());
    EXPECT_EQ(checker.Outcome(first), "") << Print(first);
    for (int i = 0; i < kRandomDecisions; ++i) {
      const Schedule drawn = sketch.Fill(RandomDecisions(sketch, random));
      EXPECT_EQ(checker.Outcome(drawn, ReductionOrder::kAny, Tasks::kBackwards), "")
          << Print(drawn);
    }
  }
}

// No sketch fits the statement A. The statement B still gets a schedule.
TEST(Sketches, HavePartsBesideWhatStaysAsWritten) {
  const Compute compute = MustParse(R"(compute chain {
  input x: f32[37]
  output A: f32[37]
  workspace B: f32[37]
  B[i: 37]:
    B[i] = x[i] * 2.0
  A[i: 37 sequential]:
    A[i] = (A[i - 1] where (i - 1 >= 0) else 0.0) * 0.5 + B[i]
})");
  std::vector<Sketch> sketches;
  const std::vector<NamedCompute> lowerings = {{"direct", compute}};
  const Target target = Avx512();
  AddPartialSketches(lowerings[0], {lowerings, target, ReductionOrder::kAny}, sketches);
  ASSERT_EQ(sketches.size(), 1U);
  const Schedule schedule = sketches[0].Fill(sketches[0].InitialDecisions());
  EXPECT_THAT(Print(schedule), AllOf(HasSubstr("vectorize B."), Not(HasSubstr(" A."))));
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule), "");
}

// Composed and affine sketches are expensive to find. Composed sketches are tried if no pattern
// applies, and affine sketches if no composed sketch applies either.
TEST(Sketches, ComeInStages) {
  const auto names = [](std::string_view text) {
    std::vector<std::string> found;
    for (const Sketch& sketch : SketchesOn(MustParse(text))) {
      found.push_back(sketch.name);
    }
    return found;
  };
  EXPECT_THAT(names(kMatmul), Not(AnyOf(Contains("composed"), Contains("affine"))));
  EXPECT_THAT(names(kTwoProducts), AllOf(Contains("composed"), Not(Contains("affine"))));
}

// A block of a transposition is vectorized along one side and unrolled along the other.
TEST(Sketches, TurnInSquareBlocks) {
  const Compute compute = MustParse(kTurned);
  const std::vector<Sketch> sketches = SketchesOn(compute);
  const std::string schedule = Print(sketches[0].Fill(sketches[0].InitialDecisions()));
  EXPECT_NE(schedule.find("split Y.i 16\nsplit Y.j 16\n"), std::string::npos) << schedule;
  EXPECT_NE(schedule.find("unroll Y.i.1\nvectorize Y.j.1\n"), std::string::npos) << schedule;
}

// If a long transposed operand is packed at run time, the pack loop is unrolled in blocks. A
// constant is packed only once, so its loop is not unrolled.
TEST(Sketches, TurnBlocksOfWhatIsPackedWhileRunning) {
  const auto packed = [](int depth, const std::string& weight) {
    const Compute compute = MustParse(ProductText({.rows = 40,
                                                   .columns = 37,
                                                   .length = depth,
                                                   .right = {.index = "j, k", .weight = weight}}));
    const Sketch sketch = SketchesOn(compute)[0];
    const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
    EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule), "") << Print(schedule);
    return Print(schedule);
  };
  EXPECT_THAT(packed(24, ""),
              HasSubstr("storage_order B.pack 64\nsplit B.pack.d1 8\nunroll B.pack.d1.1\n"));
  EXPECT_THAT(packed(27, ""), HasSubstr("isolate B.pack.d1.0\nunroll B.pack"));
  EXPECT_THAT(packed(5, ""), Not(HasSubstr("unroll B.pack")));
  EXPECT_THAT(packed(24, "constant"), Not(HasSubstr("unroll B.pack")));
}

// The packed weights have contiguous output channels, although groups may begin anywhere.
TEST(Sketches, PackWeightsOfGroups) {
  const Compute compute = MustParse(kGroupedConv);
  const std::vector<Sketch> sketches = SketchesOn(compute);
  const std::string schedule = Print(sketches[0].Fill(sketches[0].InitialDecisions()));
  EXPECT_NE(schedule.find("pack W 2 3 1 0\nstorage_order W.pack 64\n"), std::string::npos)
      << schedule;
  EXPECT_NE(schedule.find("vectorize acc.m.1\n"), std::string::npos) << schedule;
}

// The conditions of the padding depend on y and x, so the output channels m are vectorized.
TEST(Sketches, PackWeightsOfPaddedImagesInEachRun) {
  const Compute compute = MustParse(R"(compute conv {
  input X: f32[8, 20, 20]
  input W: f32[32, 8, 3, 3]
  output C: f32[32, 20, 20]
  acc[m: 32, y: 20, x: 20, c: 8 reduction, p: 3 reduction, q: 3 reduction] where y + p - 1 >= 0, -y - p + 20 >= 0, x + q - 1 >= 0, -x - q + 20 >= 0:
    C[m, y, x] sum= X[c, y + p - 1, x + q - 1] * W[m, c, p, q]
})");
  const Sketch sketch = SketchesOn(compute)[0];
  const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule, ReductionOrder::kAny), "")
      << Print(schedule);
  EXPECT_THAT(Print(schedule), AllOf(HasSubstr("pack W "), HasSubstr("vectorize acc.m.1\n")));
}

// A large product of half precision numbers casts each number once, and the constant B before the
// runs. For 8 rows or one row, separate casts of B are not worthwhile.
TEST(Sketches, WidenWhatIsUsedOften) {
  const auto schedule = [](int rows) {
    const Compute compute = MustParse(HalfProductText(rows, 512, 512));
    const std::vector<Sketch> sketches = SketchesOn(compute);
    const Schedule first = sketches[0].Fill(sketches[0].InitialDecisions());
    const auto kernel = LoopsOf(compute, first, ReductionOrder::kAny);
    EXPECT_TRUE(kernel) << kernel.error().Format();
    return Print(first) + (kernel ? Print(kernel->nest) : "");
  };
  const std::string many = schedule(512);
  EXPECT_NE(many.find("widen A acc\nwiden B acc\npack B.wide 1/"), std::string::npos) << many;
  EXPECT_EQ(many.find("f32(B"), std::string::npos) << many;
  EXPECT_NE(many.find("\nstorage_order B.wide 64\n"), std::string::npos) << many;
  EXPECT_EQ(many.find("storage_order A.wide"), std::string::npos) << many;
  EXPECT_NE(many.find("A.wide: f32["), std::string::npos) << many;
  const std::string few = schedule(8);
  EXPECT_NE(few.find("widen A acc\npack B 1/"), std::string::npos) << few;
  EXPECT_EQ(schedule(1).find("widen B"), std::string::npos);
}

// Scores need no workspace. The scratch of a task is at most four times the scores of one block, or
// of one head if the Compute has no blocks.
TEST(Sketches, StreamsStoreNoScores) {
  const auto bytes = [](std::string_view text) {
    const Compute compute = MustParse(text);
    const std::vector<Sketch> sketches = SketchesOn(compute);
    const Schedule schedule = sketches[0].Fill(sketches[0].InitialDecisions());
    const auto kernel = LoopsOf(compute, schedule, ReductionOrder::kAny);
    EXPECT_TRUE(kernel) << kernel.error().Format();
    const StoragePlan plan = PlanStorage(kernel->nest);
    EXPECT_EQ(plan.workspace_bytes, 0) << Print(kernel->nest);
    return plan.scratch_bytes;
  };
  // Here scores and weights of a block have 16 columns by 8 rows. Other storage is smaller.
  EXPECT_LE(bytes(kStreamedAttention), 4 * 16 * 8 * 4);
  EXPECT_LE(bytes(kAttention), 4 * 29 * 13 * 4);
}

}  // namespace
}  // namespace tunec::test
