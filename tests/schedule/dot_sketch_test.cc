// Tests of register tiles whose products are computed by instructions on pairs of bfloat16, in
// vectors or matrices. The tests check where the sketches are offered, and in which order. The
// loops must agree with the interpreter, also for shapes that tiles do not divide.
// tests/kernel/dot_tiles_test.cc tests machine code.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "schedule/sketch.h"
#include "tests/programs/dot_products.h"
#include "tests/programs/operators.h"
#include "tests/schedule/expect_schedule.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/random_decisions.h"

namespace tunec::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<Sketch> SketchesUnder(const std::string& compute, const RoundingFreedom& rounding,
                                  const Target& target, double gain = 2) {
  return SketchesFor({.lowerings = {{"direct", MustParse(compute)}},
                      .target = target,
                      .rounding = rounding,
                      .gain = [gain](const TileIntrinsic&) { return gain; }});
}

std::vector<std::string> Names(const std::vector<Sketch>& sketches) {
  std::vector<std::string> names;
  for (const Sketch& sketch : sketches) names.push_back(sketch.name);
  return names;
}

// Returns the first sketch whose name has this suffix. Aborts if there is none.
const Sketch& FirstOf(const std::vector<Sketch>& sketches, std::string_view end) {
  const auto ends = [&](const Sketch& sketch) { return sketch.name.ends_with(end); };
  const auto found = std::ranges::find_if(sketches, ends);
  TUNEC_CHECK(found != sketches.end(), "no sketch {}", end);
  return *found;
}

// Returns the text of a convolution of an image with this many channels.
std::string ImageOf(int64_t channels) {
  return fmt::format(R"(compute image {{
  input X: f32[{0}, 18, 18] layout [18, 18, {0}] (c, h, w) -> [h, w, c]
  weight W: f32[64, {0}, 3, 3] constant
  output Y: f32[64, 16, 16] layout [16, 16, 64] (m, h, w) -> [h, w, m]
  Y[m: 64, oh: 16, ow: 16, ic: {0} reduction, kh: 3 reduction, kw: 3 reduction]:
    Y[m, oh, ow] sum= X[ic, oh + kh, ow + kw] * W[m, ic, kh, kw]
}}
)",
                     channels);
}

// For few channels, padding, rounding and packing cost more time than the instruction saves.
TEST(DotSketch, IsFirstWhereItPaysForItsOperands) {
  const auto first = [](const std::string& text) {
    return SketchesUnder(text, AnyRounding(), Avx512Bf16(), 2)[0].name;
  };
  // Three channels do not fill a vector, so the estimate rounds each element of X separately.
  EXPECT_THAT(first(ImageOf(3)), Not(testing::EndsWith("/dpbf16")));
  EXPECT_THAT(first(ImageOf(64)), testing::EndsWith("/dpbf16"));
}

TEST(DotSketch, IsForContractsAndTargetsThatHaveIt) {
  const std::string product = DotProduct({});
  const auto names = [&](const RoundingFreedom& rounding, const Target& target) {
    return Names(SketchesUnder(product, rounding, target));
  };
  EXPECT_THAT(names(AnyRounding(), Avx512Bf16()), Contains("tile/j/dpbf16"));
  EXPECT_THAT(names(ReductionOrder::kAny, Avx512Bf16()), Not(Contains(HasSubstr("dpbf16"))));
  EXPECT_THAT(names(AnyRounding(), Avx512()), Not(Contains(HasSubstr("dpbf16"))));
  RoundingFreedom as_written = AnyRounding();
  as_written.order = ReductionOrder::kAsWritten;
  EXPECT_THAT(names(as_written, Avx512Bf16()), Not(Contains(HasSubstr("dpbf16"))));
}

TEST(DotSketch, OtherContractsSeeTheSameSketches) {
  for (const Program& program : kPrograms) {
    const std::string text(program.text);
    if (text.contains("bf16")) continue;  // its values are already rounded
    const auto with = SketchesUnder(text, ReductionOrder::kAny, Avx512Bf16());
    const auto without = SketchesUnder(text, ReductionOrder::kAny, Avx512());
    ASSERT_EQ(Names(with), Names(without)) << program.name;
    for (size_t i = 0; i < with.size(); ++i) {
      EXPECT_EQ(Print(with[i].Fill(with[i].InitialDecisions())),
                Print(without[i].Fill(without[i].InitialDecisions())));
    }
  }
}

TEST(DotSketch, IsFirstWhereTheInstructionIsFaster) {
  const std::string product = DotProduct({});
  EXPECT_EQ(SketchesUnder(product, AnyRounding(), Avx512Bf16(), 2)[0].name, "tile/j/dpbf16");
  EXPECT_EQ(SketchesUnder(product, AnyRounding(), Avx512Bf16(), 0.5)[0].name, "tile/j");
  EXPECT_THAT(Names(SketchesUnder(product, AnyRounding(), Avx512Bf16(), 0.5)),
              Contains("tile/j/dpbf16"));
}

TEST(DotSketch, WritesTheGoldenSchedule) {
  const Sketch sketch = SketchesUnder(DotProduct({}), AnyRounding(), Avx512Bf16())[0];
  ExpectSchedule("dot_product", sketch.Fill(sketch.InitialDecisions()));
}

// Compares up to `tries` schedules with the interpreter: first the initial one, then random ones.
void ExpectRight(const std::string& text, const ScheduleChecker& checker, const Sketch& sketch,
                 int tries, std::mt19937& random, const RoundingFreedom& rounding = AnyRounding()) {
  Decisions decisions = sketch.InitialDecisions();
  for (int i = 0; i < tries && !testing::Test::HasFailure(); ++i) {
    const Schedule schedule = sketch.Fill(decisions);
    EXPECT_EQ(Print(*ParseSchedule(Print(schedule), "replay")), Print(schedule));
    EXPECT_EQ(checker.Outcome(schedule, rounding, Tasks::kBackwards), "") << text << "\n"
                                                                          << sketch.name << "\n"
                                                                          << Print(schedule);
    decisions = RandomDecisions(sketch, random);
  }
}

TEST(DotSketch, AgreesForRandomShapes) {
  std::mt19937 random(3);
  const auto draw = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
  for (int i = 0; i < 25 && !HasFailure(); ++i) {
    const std::string text = DotProduct({draw(50), 1 + draw(80), 1 + draw(40)});
    const ScheduleChecker checker(MustParse(text));
    const auto sketches = SketchesUnder(text, AnyRounding(), Avx512Bf16());
    ExpectRight(text, checker, FirstOf(sketches, "/dpbf16"), 4, random);
  }
}

// --- Matrix instructions ---

TEST(MatrixSketch, IsForContractsAndTargetsThatHaveIt) {
  const auto names = [](const RoundingFreedom& rounding, const Target& target) {
    return Names(SketchesUnder(DotProduct({}), rounding, target));
  };
  EXPECT_THAT(names(AnyRounding(), EmulatedAmx()), Contains("tile/j/amx"));
  EXPECT_THAT(names(AnyRounding(), EmulatedAmx()), Not(Contains(HasSubstr("dpbf16"))));
  EXPECT_THAT(names(AnyRounding(), Avx512Bf16()), Not(Contains(HasSubstr("amx"))));
  // Under kAny, amx multiplies three bf16 splits of each operand. kAsWritten excludes amx.
  EXPECT_THAT(names(ReductionOrder::kAny, EmulatedAmx()), Contains("tile/j/amx"));
  EXPECT_THAT(names(ReductionOrder::kAsWritten, EmulatedAmx()), Not(Contains(HasSubstr("amx"))));
}

// Three bf16 splits need six products, and two splits need three. Splitting is worthwhile if the
// instruction is fast enough. Three splits also need many columns and a long reduction.
TEST(MatrixSketch, SplitsFloat32AsTheContractWants) {
  const auto first = [](int bf16_parts, double gain, int64_t length = 256) {
    RoundingFreedom rounding = ReductionOrder::kAny;
    rounding.min_bf16_parts = bf16_parts;
    const Sketch sketch =
        SketchesUnder(DotProduct({256, 1024, length}), rounding, EmulatedAmx(), gain)[0];
    return Print(sketch.Fill(sketch.InitialDecisions()));
  };
  EXPECT_THAT(first(3, 16, 768), HasSubstr("precision acc bf16 3\n"));
  EXPECT_THAT(first(3, 16, 768), HasSubstr("pack B.bf16 2/16 1/32 0 1%32/2 2%16 1%2\n"));
  EXPECT_THAT(first(3, 16, 768), HasSubstr("pack A.bf16 1/16 2/32 0 1%16 2%32\n"));
  EXPECT_THAT(first(3, 16, 128), Not(HasSubstr("precision")));
  // With several splits, each block of the reduction is a separate partial sum.
  EXPECT_THAT(first(3, 32, 1024), HasSubstr("reduce_split acc k 512 outer\n"));
  EXPECT_THAT(first(1, 8, 1024), Not(HasSubstr("reduce_split")));
  EXPECT_THAT(first(3, 6), Not(HasSubstr("precision")));
  EXPECT_THAT(first(2, 6), HasSubstr("precision acc bf16 2\n"));
  EXPECT_THAT(first(2, 3), Not(HasSubstr("precision")));
}

TEST(MatrixSketch, IsFirstWhereItIsFasterWithItsPadding) {
  const auto first = [](const ProductShape& shape, double gain) {
    return SketchesUnder(DotProduct(shape), AnyRounding(), EmulatedAmx(), gain)[0].name;
  };
  EXPECT_EQ(first({256, 1024, 256}, 2), "tile/j/amx");
  EXPECT_EQ(first({256, 1024, 256}, 0.5), "tile/j");
  // For 17 rows, nearly half of the rows are padding. For length 33, nearly half of the sum is.
  EXPECT_EQ(first({17, 1024, 64}, 2), "tile/j");
  EXPECT_EQ(first({17, 1024, 64}, 4), "tile/j/amx");
  EXPECT_EQ(first({256, 1024, 33}, 2), "tile/j");
  EXPECT_EQ(first({256, 1024, 33}, 4), "tile/j/amx");
}

TEST(MatrixSketch, IsOrderedAmongTheOthersByGain) {
  Target both = EmulatedAmx();
  both.host.features.insert("avx512bf16");
  const auto names = [&](double amx, double vectors) {
    return Names(SketchesFor({.lowerings = {{"direct", MustParse(DotProduct({32, 64, 64}))}},
                              .target = both,
                              .rounding = AnyRounding(),
                              .gain = [=](const TileIntrinsic& intrinsic) {
                                return intrinsic.name == "amx.bf16" ? amx : vectors;
                              }}));
  };
  EXPECT_THAT(names(5, 2), testing::IsSupersetOf({"tile/j/amx", "tile/j/dpbf16", "tile/j"}));
  EXPECT_EQ(names(5, 2)[0], "tile/j/amx");
  EXPECT_EQ(names(1.5, 2)[0], "tile/j/dpbf16");
  EXPECT_EQ(names(1, 1)[0], "tile/j");
}

TEST(MatrixSketch, AgreesForRandomShapes) {
  std::mt19937 random(3);
  const auto draw = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
  for (int i = 0; i < 12 && !HasFailure(); ++i) {
    const std::string text = DotProduct({draw(70), 1 + draw(80), 1 + draw(100)});
    const ScheduleChecker checker(MustParse(text));
    const auto sketches = SketchesUnder(text, AnyRounding(), EmulatedAmx());
    ExpectRight(text, checker, FirstOf(sketches, "/amx"), 4, random);
  }
}

// The initial schedule splits the reduction into several blocks.
TEST(MatrixSketch, AgreesForLongSums) {
  std::mt19937 random(4);
  const std::string text = DotProduct({40, 20, 1000});
  const ScheduleChecker checker(MustParse(text));
  const auto sketches = SketchesUnder(text, AnyRounding(), EmulatedAmx());
  ExpectRight(text, checker, FirstOf(sketches, "/amx"), 8, random);
}

// With the knob `operand_by_block`, each task computes and stores the bf16 splits of its rows of A.
TEST(MatrixSketch, SplitsAnOperandForABlockOfRows) {
  const std::string text = DotProduct({150, 40, 90});
  const ScheduleChecker checker(MustParse(text));
  std::mt19937 random(6);
  for (const int bf16_parts : {2, 3}) {
    RoundingFreedom rounding = ReductionOrder::kAny;
    rounding.min_bf16_parts = bf16_parts;
    const auto sketches = SketchesUnder(text, rounding, EmulatedAmx());
    const Sketch& sketch = FirstOf(sketches, "/amx");
    for (int i = 0; i < 6; ++i) {
      const Decisions drawn = i == 0 ? sketch.InitialDecisions() : RandomDecisions(sketch, random);
      const Schedule schedule = sketch.Fill(WithKnob(sketch, drawn, "operand_by_block", 1));
      EXPECT_THAT(Print(schedule), HasSubstr("compute_at A.bf16 acc.i.0\n"));
      EXPECT_THAT(Print(schedule), HasSubstr("stage A.bf16 packed acc.i.0 0 1 2\n"));
      EXPECT_THAT(Print(schedule), Not(HasSubstr("pack A.bf16")));
      EXPECT_EQ(checker.Outcome(schedule, rounding, Tasks::kBackwards), "") << Print(schedule);
    }
    // By default, an earlier phase computes the bf16 splits of A.
    EXPECT_THAT(Print(sketch.Fill(sketch.InitialDecisions())), Not(HasSubstr("compute_at A.bf16")));
  }
}

class DotSketchOn : public testing::TestWithParam<DotProgram> {};

TEST_P(DotSketchOn, AgreesWithTheInterpreter) {
  const ScheduleChecker checker(MustParse(GetParam().text));
  std::mt19937 random(11);
  int found = 0;
  for (const Sketch& sketch : SketchesUnder(GetParam().text, AnyRounding(), Avx512Bf16())) {
    if (!sketch.name.ends_with("/dpbf16")) continue;
    ++found;
    ExpectRight(GetParam().text, checker, sketch, 12, random);
  }
  EXPECT_EQ(found > 0, GetParam().is_offered);
}

TEST_P(DotSketchOn, MatricesAgreeWithTheInterpreter) {
  const ScheduleChecker checker(MustParse(GetParam().text));
  std::mt19937 random(12);
  int found = 0;
  for (const Sketch& sketch : SketchesUnder(GetParam().text, AnyRounding(), EmulatedAmx())) {
    if (!sketch.name.ends_with("/amx")) continue;
    ++found;
    ExpectRight(GetParam().text, checker, sketch, 2, random);
  }
  EXPECT_EQ(found > 0, GetParam().is_offered);
}

TEST_P(DotSketchOn, MatricesOfTermsAgreeWithTheInterpreter) {
  const ScheduleChecker checker(MustParse(GetParam().text));
  std::mt19937 random(13);
  for (const int bf16_parts : {2, 3}) {
    RoundingFreedom rounding = ReductionOrder::kAny;
    rounding.min_bf16_parts = bf16_parts;
    int found = 0;
    for (const Sketch& sketch : SketchesUnder(GetParam().text, rounding, EmulatedAmx())) {
      if (!sketch.name.ends_with("/amx")) continue;
      ++found;
      ExpectRight(GetParam().text, checker, sketch, 1, random, rounding);
    }
    EXPECT_EQ(found > 0, GetParam().IsOfferedWhenSplit()) << bf16_parts;
  }
}

INSTANTIATE_TEST_SUITE_P(DotSketch, DotSketchOn, testing::ValuesIn(DotPrograms()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec::test
