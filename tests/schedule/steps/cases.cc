#include "tests/schedule/steps/cases.h"

#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"

namespace tunec::test {

void PrintTo(const StepExample& example, std::ostream* out) { *out << example.name; }

void PrintTo(const StepRejection& rejection, std::ostream* out) { *out << rejection.name; }

TEST_P(StepFires, AndKeepsTheResult) {
  const Compute compute = MustParse(GetParam().program);
  const Schedule schedule = MustParseSteps(GetParam().steps);
  EXPECT_EQ(ScheduleChecker(compute).Outcome(schedule, AnyRounding()), "");
  const auto before = OriginalLoops(compute, ReductionOrder::kAny);
  const auto after = LoopsOf(compute, schedule, AnyRounding());
  ASSERT_TRUE(before && after);
  EXPECT_NE(Print(*before), Print(after->nest)) << "the steps changed nothing";
}

TEST_P(StepRejects, WithMessage) {
  RoundingFreedom rounding = ReductionOrder::kAny;
  rounding.min_bf16_parts = 1;  // the accuracy mode's number is tested elsewhere
  const auto kernel =
      LoopsOf(MustParse(GetParam().program), MustParseSteps(GetParam().steps), rounding);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(kernel.error().message, GetParam().message);
}

}  // namespace tunec::test
