// Register tiles whose products an instruction does that multiplies pairs of bfloat16: who is
// offered them, in which order, and that their loops agree with the interpreter for shapes that
// nothing divides. Machine code: tests/kernel/dot_tiles_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "schedule/sketch.h"
#include "tests/schedule/dot_programs.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/programs.h"

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

TEST(DotSketch, WritesThisSchedule) {
  const Sketch sketch = SketchesUnder(DotProduct({}), AnyRounding(), Avx512Bf16())[0];
  EXPECT_EQ(Print(sketch.Fill(sketch.InitialDecisions())), R"()");
}

class DotSketchOn : public testing::TestWithParam<DotProgram> {};

TEST_P(DotSketchOn, AgreesWithTheInterpreter) {
  const Judge judge(MustParse(GetParam().text));
  std::mt19937 random(11);
  int found = 0;
  for (const Sketch& sketch : SketchesUnder(GetParam().text, AnyRounding(), Avx512Bf16())) {
    if (!sketch.name.ends_with("/dpbf16")) continue;
    ++found;
    Decisions decisions = sketch.InitialDecisions();
    for (int i = 0; i < 12 && !HasFailure(); ++i) {
      const Schedule schedule = sketch.Fill(decisions);
      EXPECT_EQ(Print(*ParseSchedule(Print(schedule), "replay")), Print(schedule));
      EXPECT_EQ(judge.Outcome(schedule, AnyRounding(), Tasks::kBackwards), "")
          << sketch.name << "\n"
          << Print(schedule);
      for (size_t k = 0; k < decisions.size(); ++k) {
        decisions[k] = static_cast<int>(random() % sketch.knobs[k].choices.size());
      }
    }
  }
  EXPECT_EQ(found > 0, GetParam().is_offered);
}

INSTANTIATE_TEST_SUITE_P(DotSketch, DotSketchOn, testing::ValuesIn(DotPrograms()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec::test
