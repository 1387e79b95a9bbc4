// Tests of schedules from isl's scheduler. The schedules must be legal and give the interpreter's
// results. Stencils are tiled in time, and the tiles run in wavefronts. Expected texts are in
// sketches/.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "schedule/sketch.h"
#include "schedule/sketches/sketches.h"
#include "support/file.h"
#include "tests/programs/examples.h"
#include "tests/schedule/expect_schedule.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/random_decisions.h"

namespace tunec::test {
namespace {

namespace fs = std::filesystem;

Sketch AffineSketchOf(const Compute& compute) {
  std::vector<Sketch> sketches;
  AddAffineSketches({"direct", compute}, Avx512(), sketches);
  return sketches.at(0);
}

Schedule InitialSchedule(const Compute& compute) {
  const Sketch sketch = AffineSketchOf(compute);
  return sketch.Fill(sketch.InitialDecisions());
}

class AffineSketches : public testing::TestWithParam<const char*> {};

TEST_P(AffineSketches, BeginWithTheGoldenSteps) {
  ExpectSchedule(std::string("affine_") + GetParam(), InitialSchedule(ExampleCompute(GetParam())));
}

// The initial schedule must be correct if no addition may be reordered. Random schedules may
// reorder additions. To save time, the tasks of random schedules run only backwards.
TEST_P(AffineSketches, KeepTheResult) {
  const ScheduleChecker checker(ExampleCompute(GetParam()));
  const Sketch sketch = AffineSketchOf(checker.compute());
  const Schedule first = sketch.Fill(sketch.InitialDecisions());
  EXPECT_EQ(*ParseSchedule(Print(first), "replay"), first);
  EXPECT_EQ(checker.Outcome(first, ReductionOrder::kAsWritten), "") << Print(first);
  std::mt19937 random(7);
  for (int i = 0; i < 3; ++i) {
    const Schedule drawn = sketch.Fill(RandomDecisions(sketch, random));
    EXPECT_EQ(checker.Outcome(drawn, ReductionOrder::kAny, Tasks::kBackwards), "") << Print(drawn);
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, AffineSketches,
                         testing::Values("jacobi_1d", "jacobi_2d", "gauss_seidel_2d", "heat_3d",
                                         "causal_product", "cholesky_update"),
                         [](const auto& info) { return info.param; });

TEST(AffineSketch, CutsStencilsIntoTilesOfTimeInWaves) {
  for (const char* name : {"jacobi_1d", "jacobi_2d", "gauss_seidel_2d", "heat_3d"}) {
    const std::string text = Print(InitialSchedule(ExampleCompute(name)));
    EXPECT_THAT(text, testing::HasSubstr("skew A.i A.t 1 as A.i_t\n")) << name;
    EXPECT_THAT(text, testing::HasSubstr("split A.t ")) << name;
    EXPECT_THAT(text, testing::HasSubstr("wavefront A.wave\nparallelize A.")) << name;
  }
}

// Returns the text of a Compute of prefix sums along the rows: y[i, j] = x[i, 0] + ... + x[i, j].
std::string ScanText(int rows, int length) {
  return fmt::format(R"(compute scan {{
  input x: f32[{0}, {1}]
  output y: f32[{0}, {1}]
  y[i: {0}, j: {1} sequential]:
    y[i, j] = (y[i, j - 1] where (j - 1 >= 0) else 0.0) + x[i, j]
}})",
                     rows, length);
}

// In a scan along rows, the rows are independent, but the elements of a row are not.
TEST(AffineSketch, RunsTheRowsOfAScanAsTasks) {
  const auto sketches = SketchesOn(MustParse(ScanText(13, 37)));
  ASSERT_EQ(sketches.size(), 2U);
  EXPECT_EQ(sketches[0].name, "affine");
  EXPECT_EQ(Print(sketches[0].Fill(sketches[0].InitialDecisions())),
            "lower direct\nparallelize y.i\n");
}

// In a scan along columns, the loop over the columns is vectorized.
TEST(AffineSketch, RunsColumnsOfAScanAsLanes) {
  const Compute compute = MustParse(R"(compute scan {
  input x: f32[13, 37]
  output y: f32[13, 37]
  y[j: 37, i: 13 sequential]:
    y[i, j] = (y[i - 1, j] where (i - 1 >= 0) else 0.0) + x[i, j]
})");
  const auto sketches = SketchesOn(compute);
  const Schedule schedule = sketches[0].Fill(sketches[0].InitialDecisions());
  EXPECT_THAT(Print(schedule), testing::HasSubstr("vectorize y.j"));
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule), "");
}

// Element i of a row needs element 599 - i of the previous row. No skew makes this distance
// constant, so the loops cannot be tiled. They run one row at a time.
TEST(AffineSketch, RunsARowAtATimeWhereNothingCanBeTiled) {
  const Compute compute = MustParse(R"(compute turn {
  input X: f32[600]
  output A: f32[9, 600]
  start[i: 600]:
    A[0, i] = X[i]
  A[t: 8 sequential, i: 600]:
    A[t + 1, i] = A[t, 599 - i] + 1.0
})");
  const Schedule schedule = InitialSchedule(compute);
  EXPECT_THAT(Print(schedule),
              testing::EndsWith("split A.i 256\nisolate A.i.0\nwavefront A.t\nparallelize A.i.0\n"
                                "vectorize A.i.1\n"));
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule), "");
}

// Skewing is not worthwhile if the loops cannot be tiled afterwards, so `step` is unchanged.
TEST(AffineSketch, DoesNotSlantForItsOwnSake) {
  const Compute compute = MustParse(R"(compute turns {
  input X: f32[19]
  output A: f32[19]
  output S: f32[19]
  a[i: 19]:
    A[i] = X[i]
  s[i: 19]:
    S[i] = X[i] * 2.0
  step[k: 9 sequential, i: 17 sequential]:
    (A[i + 1], S[18 - i]) = (A[i] * 0.5 + S[i + 1], S[17 - i] + A[18 - i])
})");
  const std::string text = Print(InitialSchedule(compute));
  EXPECT_THAT(text, testing::HasSubstr("vectorize a.i"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("step")));
}

Compute SmallKernel(const std::string& name) {
  const fs::path folder = fs::path(TUNEC_TEST_DATA).parent_path() / "bench/polybench/small";
  return MustParse(ReadFile(folder / (name + ".compute")).value_or(""));
}

// Two phases are folded into one statement with selects. Each phase changes only one of the two
// tensors. The column loop is therefore vectorized, and each phase has separate code.
TEST(AffineSketch, TellsFoldedPhasesApart) {
  const Compute compute = SmallKernel("gramschmidt");
  const Schedule schedule = InitialSchedule(compute);
  EXPECT_THAT(Print(schedule), testing::HasSubstr("vectorize step.j\npeel step.p 1\n"));
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule, ReductionOrder::kAsWritten), "");
}

// Sweeps along rows alternate with sweeps along columns. The loop i has no dependences in either
// sweep, so it is vectorized. The loops s and d of the sweeps are peeled.
TEST(AffineSketch, RunsSweepsBesideEachOther) {
  const Compute compute = SmallKernel("adi");
  const Schedule schedule = InitialSchedule(compute);
  EXPECT_THAT(Print(schedule), testing::HasSubstr("vectorize step.i"));
  EXPECT_THAT(Print(schedule), testing::HasSubstr("peel step.s 1\npeel step.d 1\n"));
  EXPECT_THAT(Print(schedule), testing::Not(testing::HasSubstr("skew step")));
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule, ReductionOrder::kAsWritten), "");
}

// Three statements are shifted and fused into one. The value h of a lane needs a value of the
// previous lane, which is already written.
TEST(AffineSketch, RunsShiftedStatementsAsLanes) {
  const Compute compute = SmallKernel("fdtd-2d");
  const Schedule schedule = InitialSchedule(compute);
  EXPECT_THAT(Print(schedule), testing::HasSubstr("vectorize step.j"));
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule, ReductionOrder::kAsWritten), "");
}

// The reduction loop k runs outside the vector loop, although isl's schedule has k innermost.
TEST(AffineSketch, MovesALoopOfContiguousWritesInside) {
  const Compute compute = SmallKernel("nussinov");
  const Schedule schedule = InitialSchedule(compute);
  EXPECT_THAT(Print(schedule), testing::HasSubstr(" T.k T.j.1\n"));
  EXPECT_THAT(Print(schedule), testing::HasSubstr("vectorize T.j.1\n"));
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule, ReductionOrder::kAsWritten), "");
}

// Neighbouring lanes read elements of L that are a row apart. The tile therefore has few rows of L,
// and a long piece of each row.
TEST(AffineSketch, TakesFewRowsOfAnOperandThatLiesAcross) {
  const Compute compute = MustParse(R"(compute solve {
  input L: f32[600, 600]
  input b: f32[600]
  output w: f32[600]
  start[i: 600]:
    w[i] = b[i]
  w[i: 600 sequential, j: 600 sequential] where i - j - 1 >= 0:
    w[i] = w[i] - L[i, j] * w[j]
})");
  const Schedule schedule = InitialSchedule(compute);
  EXPECT_THAT(Print(schedule), testing::HasSubstr("split w.i 32\nsplit w.j 256\n"));
  EXPECT_THAT(Print(schedule), testing::HasSubstr("vectorize w.i.1\n"));
}

// An element depends only on elements of its row, so four rows are computed together.
TEST(AffineSketch, RunsRowsOfAScanSideBySide) {
  const Compute compute = MustParse(ScanText(517, 5));
  const Schedule schedule = InitialSchedule(compute);
  EXPECT_EQ(Print(schedule), "lower direct\nunroll_jam y.i 4\nparallelize y.i.0\n");
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule, ReductionOrder::kAsWritten), "");
}

// The only loop carries a dependence, so there is no affine sketch.
TEST(AffineSketch, LeavesAChainAlone) {
  const Compute compute = MustParse(R"(compute chain {
  output A: f32[40]
  A[i: 40 sequential]:
    A[i] = (A[i - 1] where (i - 1 >= 0) else 0.0) * 0.5 + 1.0
})");
  const auto sketches = SketchesOn(compute);
  EXPECT_EQ(sketches.size(), 1U);
  EXPECT_EQ(sketches[0].name, "naive");
}

}  // namespace
}  // namespace tunec::test
