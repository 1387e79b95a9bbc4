// Tests of long sums that are computed in pieces. They check which sums are split and where, and
// that the loops agree with the interpreter. tests/kernel/pieces_test.cc tests machine code and the
// reduction of the error.
#include "schedule/sketches/pieces.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/programs/long_sums.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/long_sum_sketches.h"
#include "tests/schedule/random_decisions.h"

namespace tunec::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns the text of a Compute that reduces `extent` x `others` products along k and `second`.
std::string SumText(int extent, int others, const std::string& type = "f32",
                    const std::string& reducer = "sum", const std::string& second = "r") {
  return fmt::format(R"(compute sums {{
  input A: {2}[5, {0}, {1}]
  input B: {2}[{0}, {1}]
  output C: {2}[5]
  C[i: 5, k: {0} reduction, {4}: {1} reduction]:
    C[i] {3}= A[i, k, {4}] * B[k, {4}]
}}
)",
                     extent, others, type, reducer, second);
}

// Returns the pieces of the Compute's first statement, or nothing. The sum may be split along one
// of `loops`, by default along k.
std::optional<Pieces> PiecesOfSum(const std::string& text,
                                  const RoundingFreedom& rounding = ReductionOrder::kAny,
                                  const std::vector<VarId>& loops = {IteratorVar(1)}) {
  const Compute compute = MustParse(text);
  return PiecesOf(compute, compute.statements.front(), loops, rounding);
}

int64_t Length(int extent, int others = 1) {
  const std::optional<Pieces> pieces = PiecesOfSum(SumText(extent, others));
  return pieces ? pieces->length : 0;
}

TEST(Pieces, AreOfLongSums) {
  EXPECT_EQ(Length(144), 0);
  EXPECT_EQ(Length(256), 128);
  EXPECT_EQ(Length(25088), 128);
  EXPECT_EQ(Length(16, 9), 0);
  EXPECT_EQ(Length(64, 9), 16);
}

// The length divides the sum if a divisor near 128 exists, so that no shorter piece remains.
TEST(Pieces, AreWholeWherePossible) {
  EXPECT_EQ(Length(576), 144);
  EXPECT_EQ(Length(960), 120);
  EXPECT_EQ(Length(196), 98);
  const std::optional<Pieces> odd = PiecesOfSum(SumText(1009, 1));
  ASSERT_TRUE(odd);
  EXPECT_FALSE(odd->whole);
  EXPECT_EQ(odd->length, 128);
}

// A step of k has 49 or 1000 products. A piece has four steps, or one if k has only seven steps.
TEST(Pieces, HaveSomeStepsOfTheirLoop) {
  EXPECT_EQ(Length(64, 49), 4);
  EXPECT_EQ(Length(64, 1000), 4);
  EXPECT_EQ(Length(7, 49), 1);
}

// A sum has k times r products. The split loop is the one whose pieces are nearer to 128 products.
// For k = 49 and r = 3, a piece is one iteration of r.
TEST(Pieces, AreAlongTheLoopThatFits) {
  const auto along = [](int k, int r) {
    const auto pieces =
        PiecesOfSum(SumText(k, r), ReductionOrder::kAny, {IteratorVar(1), IteratorVar(2)});
    return fmt::format("{} {}", pieces ? pieces->iterator : "none", pieces ? pieces->length : 0);
  };
  EXPECT_EQ(along(49, 3), "r 1");
  EXPECT_EQ(along(64, 9), "k 16");
  EXPECT_EQ(along(1024, 7), "k 16");
  EXPECT_EQ(along(100, 1), "none 0");
}

TEST(Pieces, AreNotForOrdersThatMatterOrDoNot) {
  EXPECT_FALSE(PiecesOfSum(SumText(512, 1), ReductionOrder::kAsWritten));
  EXPECT_FALSE(PiecesOfSum(SumText(512, 1, "f32", "max")));
  EXPECT_FALSE(PiecesOfSum(SumText(512, 1, "i32")));
  EXPECT_FALSE(PiecesOfSum(SumText(512, 1, "f64")));
}

// The iterator `ko` of the second text has the name that a part of the split iterator k would get.
TEST(Pieces, AreNotWhereNamesAreTaken) {
  EXPECT_TRUE(PiecesOfSum(SumText(512, 2, "f32", "sum", "kk")));
  EXPECT_FALSE(PiecesOfSum(SumText(512, 2, "f32", "sum", "ko")));
}

class LongSumOn : public testing::TestWithParam<LongSum> {};

std::string FirstText(const Sketch& sketch) {
  return Print(sketch.Fill(sketch.InitialDecisions()));
}

// All candidates split the sum, because the tuner must not trade the accuracy for speed.
TEST_P(LongSumOn, IsCutByEveryCandidate) {
  std::mt19937 random(3);
  for (const Target& target : {Avx512(), Avx2()}) {
    const std::optional<Sketch> sketch = SketchOf(GetParam(), target);
    ASSERT_TRUE(sketch);
    EXPECT_THAT(FirstText(*sketch), HasSubstr("reduce_split "));
    for (int i = 0; i < 5; ++i) {
      EXPECT_THAT(Print(sketch->Fill(RandomDecisions(*sketch, random))), HasSubstr("reduce_split"));
    }
  }
}

TEST_P(LongSumOn, IsOneChainAsWritten) {
  for (const Sketch& sketch : SketchesOf(GetParam(), Avx512(), ReductionOrder::kAsWritten)) {
    if (sketch.Kind() != "tile") continue;
    EXPECT_THAT(FirstText(sketch), Not(HasSubstr("reduce_split"))) << sketch.name;
  }
}

// Checks the initial and random decisions. Arguments are small multiples of 1/8, so sums are exact.
TEST_P(LongSumOn, AgreesWithTheInterpreter) {
  std::mt19937 random(7);
  for (const Target& target : {Avx512(), Avx2()}) {
    const std::optional<Sketch> sketch = SketchOf(GetParam(), target);
    ASSERT_TRUE(sketch);
    Decisions decisions = sketch->InitialDecisions();
    const ScheduleChecker checker(ComputeOf(GetParam(), sketch->Fill(decisions)));
    for (int i = 0; i < 4 && !HasFailure(); ++i) {
      const Schedule schedule = sketch->Fill(decisions);
      EXPECT_EQ(Print(*ParseSchedule(Print(schedule), "replay")), Print(schedule));
      EXPECT_EQ(checker.Outcome(schedule, ReductionOrder::kAny, Tasks::kBackwards), "")
          << sketch->name << "\n"
          << Print(schedule);
      decisions = RandomDecisions(*sketch, random);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pieces, LongSumOn, testing::ValuesIn(LongSums()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec::test
