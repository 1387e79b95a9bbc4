// Tests of the sketch for products between transforms, such as Winograd's. They check for which
// Computes the sketch is offered, and its position among the sketches. The loops must agree with
// the interpreter, also for shapes that tiles do not divide. tests/kernel/transformed_test.cc tests
// machine code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "schedule/sketch.h"
#include "tests/programs/winograd.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/random_decisions.h"

namespace tunec::test {
namespace {

using testing::Contains;
using testing::Not;

std::vector<Sketch> SketchesUnder(const WinogradConv& conv, const RoundingFreedom& rounding,
                                  const Target& target) {
  return SketchesFor({.lowerings = {{"direct", MustParse(DirectText(conv))},
                                    {"winograd", MustParse(WinogradText(conv))}},
                      .target = target,
                      .rounding = rounding});
}

// Returns a freedom that allows the error `number`. Tiles of 4x4 are within the default.
RoundingFreedom Loose(double number = 1e-2) {
  RoundingFreedom rounding = ReductionOrder::kAny;
  rounding.allowed_error = number;
  return rounding;
}

// Returns the sketches of the direct lowering and of Winograd's tiles of 2x2 and 4x4.
std::vector<Sketch> SketchesOfBothTiles(WinogradConv conv, const RoundingFreedom& rounding) {
  conv.tile = 2;
  const Compute two = MustParse(WinogradText(conv));
  conv.tile = 4;
  return SketchesFor({.lowerings = {{"direct", MustParse(DirectText(conv))},
                                    {"winograd", two},
                                    {"winograd,tile=4", MustParse(WinogradText(conv))}},
                      .target = Avx512(),
                      .rounding = rounding});
}

std::vector<std::string> TransformedLowerings(const std::vector<Sketch>& sketches) {
  std::vector<std::string> lowerings;
  for (const Sketch& sketch : sketches) {
    if (sketch.name != "transformed") continue;
    lowerings.push_back(sketch.Fill(sketch.InitialDecisions()).lowering);
  }
  return lowerings;
}

std::vector<std::string> Names(const std::vector<Sketch>& sketches) {
  std::vector<std::string> names;
  for (const Sketch& sketch : sketches) names.push_back(sketch.name);
  return names;
}

// Returns the transformed sketch at any position, or nothing if it is not offered.
std::optional<Sketch> TransformedOf(const WinogradConv& conv, const Target& target) {
  for (Sketch& sketch : SketchesUnder(conv, Loose(), target)) {
    if (sketch.name == "transformed") return std::move(sketch);
  }
  return std::nullopt;
}

TEST(TransformedSketch, GoesFirstWhereChannelsAreMany) {
  const WinogradConv many{.channels = 64, .height = 28, .width = 28, .outputs = 64};
  const std::vector<Sketch> sketches = SketchesUnder(many, ReductionOrder::kAny, Avx512());
  EXPECT_EQ(sketches[0].name, "transformed");
  EXPECT_EQ(sketches[0].Fill(sketches[0].InitialDecisions()).lowering, "winograd");
  // The other sketches are those of the direct lowering.
  for (size_t i = 1; i < sketches.size(); ++i) {
    EXPECT_EQ(sketches[i].Fill(sketches[i].InitialDecisions()).lowering, "direct");
  }
}

TEST(TransformedSketch, IsNotFirstForFewChannels) {
  const WinogradConv few{.channels = 3, .height = 28, .width = 28, .outputs = 64};
  EXPECT_NE(SketchesUnder(few, ReductionOrder::kAny, Avx512())[0].name, "transformed");
}

// With 16 or 24 channels it is also 1.2 to 1.7 times as fast (measured). 24 channels are one and a
// half vectors, of which the direct sum fills two.
TEST(TransformedSketch, GoesFirstForOneOrTwoVectorsOfChannels) {
  for (const int channels : {16, 24, 32}) {
    const WinogradConv conv{.channels = channels, .height = 56, .width = 56, .outputs = channels};
    EXPECT_EQ(SketchesUnder(conv, ReductionOrder::kAny, Avx512())[0].name, "transformed")
        << channels;
  }
  const WinogradConv half{.channels = 4, .height = 56, .width = 56, .outputs = 8};
  EXPECT_NE(SketchesUnder(half, ReductionOrder::kAny, Avx512())[0].name, "transformed");
}

TEST(TransformedSketch, IsNotForSumsAsWritten) {
  const WinogradConv many{.channels = 64, .height = 28, .width = 28, .outputs = 64};
  EXPECT_THAT(Names(SketchesUnder(many, ReductionOrder::kAsWritten, Avx512())),
              Not(Contains("transformed")));
}

TEST(TransformedSketch, OfFourOutputsGoesFirstForLargeImages) {
  const WinogradConv large{.channels = 64, .height = 56, .width = 56, .outputs = 64};
  const std::vector<Sketch> sketches = SketchesOfBothTiles(large, Loose());
  EXPECT_EQ(sketches[0].Fill(sketches[0].InitialDecisions()).lowering, "winograd,tile=4");
  EXPECT_THAT(TransformedLowerings(sketches), testing::ElementsAre("winograd,tile=4", "winograd"));
}

// The transformed weights are over twice as large as for 2x2 tiles, and few outputs share them.
TEST(TransformedSketch, OfFourOutputsGoesBehindForSmallImages) {
  const WinogradConv small{.channels = 512, .height = 5, .width = 5, .outputs = 512};
  const auto lowerings = TransformedLowerings(SketchesOfBothTiles(small, Loose()));
  EXPECT_THAT(lowerings, Not(Contains("winograd,tile=4")));
}

TEST(TransformedSketch, OfFourOutputsWantsANumber) {
  const WinogradConv large{.channels = 64, .height = 56, .width = 56, .outputs = 64};
  for (const double tight : {0.0, 1e-5}) {
    EXPECT_THAT(TransformedLowerings(SketchesOfBothTiles(large, Loose(tight))),
                testing::ElementsAre("winograd"));
  }
  RoundingFreedom as_written = ReductionOrder::kAsWritten;
  as_written.allowed_error = 1;
  EXPECT_THAT(TransformedLowerings(SketchesOfBothTiles(large, as_written)), testing::IsEmpty());
}

TEST(TransformedSketch, IsNotForDevices) {
  const WinogradConv many{.channels = 64, .height = 28, .width = 28, .outputs = 64};
  const std::vector<Sketch> sketches = SketchesUnder(many, ReductionOrder::kAny, SmallGpu());
  for (const Sketch& sketch : sketches) {
    EXPECT_EQ(sketch.Fill(sketch.InitialDecisions()).lowering, "direct") << sketch.name;
  }
}

// The sketch requires that only the statement `back` reads the sums.
TEST(TransformedSketch, WantsPlanesThatNobodyElseReads) {
  std::string text = WinogradText({});
  const size_t at = text.find("max(back[n, p, m, dy, dx]");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 4, "acc[3, n, p, m] + ");
  const std::vector<NamedCompute> lowerings = {{"direct", MustParse(DirectText({}))},
                                               {"winograd", MustParse(text)}};
  const std::vector<Sketch> sketches =
      SketchesFor({.lowerings = lowerings, .target = Avx512(), .rounding = ReductionOrder::kAny});
  EXPECT_THAT(Names(sketches), Not(Contains("transformed")));
}

class TransformedSketchOn : public testing::TestWithParam<WinogradConv> {};

TEST_P(TransformedSketchOn, AgreesWithTheInterpreter) {
  const ScheduleChecker checker(MustParse(WinogradText(GetParam())));
  for (const Target& target : {Avx512(), Avx2()}) {
    const std::optional<Sketch> sketch = TransformedOf(GetParam(), target);
    if (!sketch) continue;  // not worthwhile for the shape
    std::mt19937 random(3);
    Decisions decisions = sketch->InitialDecisions();
    const int schedules = GetParam().tile == 2 ? 3 : 1;  // larger tiles take longer
    for (int i = 0; i < schedules && !HasFailure(); ++i) {
      const Schedule schedule = sketch->Fill(decisions);
      EXPECT_EQ(checker.Outcome(schedule), "") << Print(schedule);
      decisions = RandomDecisions(*sketch, random);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TransformedSketchOn, testing::ValuesIn(WinogradConvs()),
                         [](const auto& info) { return NameOf(info.param); });

TEST(TransformedSketch, IsOfferedForTheShapesOfThisTest) {
  int offered = 0;
  for (const WinogradConv& conv : WinogradConvs()) {
    offered += TransformedOf(conv, Avx512()).has_value() ? 1 : 0;
  }
  EXPECT_GE(offered, 3);
}

}  // namespace
}  // namespace tunec::test
