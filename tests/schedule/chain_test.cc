// Tests of the sketch that computes a depthwise convolution within the tasks of a pointwise
// convolution. The tests check where the sketch is offered, and compare the loops with the
// interpreter. tests/kernel/chain_test.cc tests machine code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "schedule/sketch.h"
#include "tests/programs/chains.h"
#include "tests/programs/dot_products.h"
#include "tests/programs/operators.h"
#include "tests/programs/replaced.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::vector<Sketch> SketchesUnder(const std::string& compute, const RoundingFreedom& rounding,
                                  const Target& target) {
  return SketchesFor({.lowerings = {{"direct", MustParse(compute)}},
                      .target = target,
                      .rounding = rounding,
                      .gain = [](const TileIntrinsic&) { return 2.0; }});
}

std::vector<std::string> Names(const std::vector<Sketch>& sketches) {
  std::vector<std::string> names;
  for (const Sketch& sketch : sketches) names.push_back(sketch.name);
  return names;
}

// Compares the schedules of the initial decisions and of nine random ones with the interpreter.
void ExpectRight(const std::string& text, const Sketch& sketch, const RoundingFreedom& rounding) {
  const ScheduleChecker checker(MustParse(text));
  std::mt19937 random(7);
  Decisions decisions = sketch.InitialDecisions();
  for (int i = 0; i < 10 && !testing::Test::HasFailure(); ++i) {
    const Schedule schedule = sketch.Fill(decisions);
    EXPECT_EQ(Print(*ParseSchedule(Print(schedule), "replay")), Print(schedule));
    EXPECT_EQ(checker.Outcome(schedule, rounding, Tasks::kBackwards), "") << sketch.name << "\n"
                                                                          << Print(schedule);
    for (size_t k = 0; k < decisions.size(); ++k) {
      decisions[k] = static_cast<int>(random() % sketch.knobs[k].choices.size());
    }
  }
}

TEST(Chain, IsOneKernelOfBlocks) {
  const auto sketches = SketchesUnder(ChainOf({}), ReductionOrder::kAny, Avx512());
  EXPECT_EQ(sketches[0].name, "tile/m/chain");
  const std::string schedule = Print(sketches[0].Fill(sketches[0].InitialDecisions()));
  EXPECT_THAT(schedule, HasSubstr("compute_at operand acc1.ow.0\n"));
  EXPECT_THAT(schedule, HasSubstr("compute_at acc operand.ow.1\n"));
  EXPECT_THAT(schedule, HasSubstr("stage acc register operand.ow.1\n"));
  EXPECT_THAT(schedule, HasSubstr("stage operand packed acc1.ow.0 0 2 3 1\n"));
}

TEST(Chain, IsForSumsOfFewElements) {
  const auto names = [](const std::string& text) {
    return Names(SketchesUnder(text, ReductionOrder::kAny, Avx512()));
  };
  EXPECT_THAT(names(ChainOf({.window = 7})), Contains(EndsWith("/chain")));
  EXPECT_THAT(names(ChainOf({.height = 11, .window = 9})), Not(Contains(EndsWith("/chain"))));
}

// With channels first, the channels of a vector are not contiguous, so the sketch is not offered.
TEST(Chain, IsForChannelsSideBySide) {
  const std::string last = "layout [2, 9, 11, 19] (n, c, h, w) -> [n, h, w, c]";
  const std::string first = ReplacedOnce(ChainOf({}), last, "");
  EXPECT_THAT(Names(SketchesUnder(first, ReductionOrder::kAny, Avx512())),
              Not(Contains(EndsWith("/chain"))));
}

TEST(Chain, IsNotForMatrices) {
  EXPECT_THAT(Names(SketchesUnder(ChainOf({.channels = 32}), AnyRounding(), EmulatedAmx())),
              Not(Contains(HasSubstr("amx"))));
}

class ChainOn : public testing::TestWithParam<ChainProgram> {};

TEST_P(ChainOn, AgreesWithTheInterpreter) {
  for (const Target& target : {Avx512(), Avx2()}) {
    int found = 0;
    for (const Sketch& sketch : SketchesUnder(GetParam().text, ReductionOrder::kAny, target)) {
      if (!sketch.name.ends_with("/chain")) continue;
      ++found;
      ExpectRight(GetParam().text, sketch, ReductionOrder::kAny);
    }
    EXPECT_GT(found, 0);
  }
}

// The pointwise operand is rounded to bfloat16 after the depthwise sum is complete.
TEST_P(ChainOn, OfPairsAgreesWithTheInterpreter) {
  int found = 0;
  for (const Sketch& sketch : SketchesUnder(GetParam().text, AnyRounding(), Avx512Bf16())) {
    if (!sketch.name.ends_with("/dpbf16/chain")) continue;
    ++found;
    ExpectRight(GetParam().text, sketch, AnyRounding());
  }
  EXPECT_EQ(found > 0, GetParam().has_pairs);
}

INSTANTIATE_TEST_SUITE_P(Chain, ChainOn, testing::ValuesIn(ChainPrograms()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec::test
