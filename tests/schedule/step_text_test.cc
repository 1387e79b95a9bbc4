// Tests of the text of schedules. Every step is equal after printing and parsing, and is described
// in the manual. Malformed lines are rejected with their position.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "schedule/schedule.h"
#include "schedule/steps/step_text.h"
#include "support/file.h"
#include "tests/golden/golden_file.h"

namespace tunec::test {
namespace {

std::filesystem::path EveryStepFile() {
  return std::filesystem::path(TUNEC_TEST_DATA) / "schedule/every_step.sched";
}

TEST(StepText, EveryStepOfTheGoldenFileRoundTrips) {
  const std::string text = ReadFile(EveryStepFile()).value_or("");
  const auto schedule = ParseSchedule(text, "a.sched");
  ASSERT_TRUE(schedule) << schedule.error().Format();
  // All lines except the first are steps.
  EXPECT_EQ(static_cast<int64_t>(schedule->StepCount()), std::ranges::count(text, '\n') - 1);
  ExpectGolden(EveryStepFile(), Print(*schedule));
  EXPECT_EQ(*ParseSchedule(Print(*schedule), "b.sched"), *schedule);
}

std::vector<std::string> AllForms() {
  std::vector<std::string> forms = ComputeStepForms();
  std::ranges::copy(LoopStepForms(), std::back_inserter(forms));
  return forms;
}

std::string FirstWord(const std::string& line) { return line.substr(0, line.find(' ')); }

TEST(StepText, EveryStepIsAmongThese) {
  std::set<std::string> names, used;
  for (const std::string& form : AllForms()) names.insert(FirstWord(form));
  std::ifstream lines(EveryStepFile());
  for (std::string line; std::getline(lines, line);) used.insert(FirstWord(line));
  used.erase("lower");
  EXPECT_EQ(used, names);
  EXPECT_EQ(names.size(), AllForms().size()) << "two steps have one name";
}

TEST(StepText, TheManualHasAHeadingForEach) {
  std::ifstream manual(std::string(TUNEC_TEST_DATA) + "/../docs/reference/schedules.md");
  std::vector<std::string> headings;
  for (std::string line; std::getline(manual, line);) {
    if (line.starts_with("### ")) headings.push_back(line.substr(4));
  }
  EXPECT_THAT(headings, testing::UnorderedElementsAreArray(AllForms()));
}

// Steps for tests of AreSteps, which is false if a step lacks Fields, name or equality.
struct Complete {
  static constexpr std::string_view kName = "complete";
  std::string loop;
  static void Fields(auto& self, auto& visit) { visit(argument::kLoop, self.loop); }
  bool operator==(const Complete&) const = default;
};
struct WithoutFields {
  static constexpr std::string_view kName = "without_fields";
  std::string loop;
  bool operator==(const WithoutFields&) const = default;
};
struct WithoutName {
  std::string loop;
  static void Fields(auto& self, auto& visit) { visit(argument::kLoop, self.loop); }
  bool operator==(const WithoutName&) const = default;
};
struct WithoutEquality {
  static constexpr std::string_view kName = "without_equality";
  std::string loop;
  static void Fields(auto& self, auto& visit) { visit(argument::kLoop, self.loop); }
};
static_assert(AreSteps<std::variant<Complete>>);
static_assert(!AreSteps<std::variant<Complete, WithoutFields>>);
static_assert(!AreSteps<std::variant<WithoutName, Complete>>);
static_assert(!AreSteps<std::variant<WithoutEquality>>);

// A step that does not shape loops cannot be added to the loop steps.
template <class T>
concept ShapesLoops = requires(Schedule& schedule, T step) {
  schedule.Add(LoopStep(step));
};
static_assert(ShapesLoops<SplitStep> && !ShapesLoops<PackStep>);

TEST(StepText, CommentsAndBlanksAreSkipped) {
  const auto schedule =
      ParseSchedule("# a matmul\n\n lower  direct # x\n\tunroll  a.k   4\r\n", "a");
  ASSERT_TRUE(schedule) << schedule.error().Format();
  EXPECT_EQ(Print(*schedule), "lower direct\nunroll a.k 4\n");
}

TEST(StepText, TheLoweringMayBeLeftOut) {
  EXPECT_EQ(*ParseSchedule("# steps alone\nsplit a.i 4\n", "a"),
            *ParseSchedule("lower direct\nsplit a.i 4", "a"));
  EXPECT_EQ(*ParseSchedule("", "a"), *ParseSchedule("lower direct", "a"));
}

TEST(StepText, EqualityIsByValue) {
  const auto a = ParseSchedule("lower direct\nsplit a.i 4", "a");
  const auto b = ParseSchedule("lower direct\nsplit a.i 8", "a");
  const auto c = ParseSchedule("lower winograd\nsplit a.i 4", "a");
  EXPECT_NE(*a, *b);
  EXPECT_NE(*a, *c);
}

struct Malformed {
  std::string_view text;
  std::string_view message;
};

class StepTextRejects : public testing::TestWithParam<Malformed> {};

TEST_P(StepTextRejects, WithMessage) {
  const auto schedule = ParseSchedule(GetParam().text, "a.sched");
  ASSERT_FALSE(schedule);
  EXPECT_EQ(schedule.error().code, ErrorCode::kParse);
  EXPECT_EQ(schedule.error().Format(), GetParam().message);
}

constexpr Malformed kMalformed[] = {
    {"split a.i 4\nlower d", "a.sched:2:1: error: expected 'lower' once, before the steps"},
    {"lower", "a.sched:1:6: error: expected the name of a lowering at the end of the line"},
    {"lower d\nspilt a.i 4", "a.sched:2:1: error: spilt is not a step; did you mean split?"},
    {"frobnicate a.i 4", "a.sched:1:1: error: frobnicate is not a step"},
    {"  splt a.i", "a.sched:1:3: error: splt is not a step; did you mean split?"},
    {"lower d\nsplit a.i", "a.sched:2:10: error: expected a factor at the end of the line"},
    {"lower d\nsplit a.i four", "a.sched:2:11: error: expected a factor, found 'four'"},
    {"lower d\nsplit a.i -4", "a.sched:2:11: error: expected a factor, found '-4'"},
    {"lower d\nsplit a.i 9999999999999999999",
     "a.sched:2:11: error: expected a factor, found '9999999999999999999'"},
    {"lower d\nskew a b 1 c", "a.sched:2:12: error: expected 'as' and a name, found 'c'"},
    {"fuse a b", "a.sched:1:9: error: expected 'as' and a name at the end of the line"},
    {"lower d\npeel a", "a.sched:2:7: error: expected an iteration at the end of the line"},
    {"lower d\npipeline a x", "a.sched:2:12: error: expected a number of stages, found 'x'"},
    {"lower d\ncopy A acc j", "a.sched:2:13: error: expected a factor at the end of the line"},
    {"lower d\npad acc k", "a.sched:2:10: error: expected a factor at the end of the line"},
    {"lower d\npad", "a.sched:2:4: error: expected a statement at the end of the line"},
    {"lower d\nbind a grid", "a.sched:2:8: error: expected grid.x to block.z, found 'grid'"},
    {"lower d\nbind a parallel",
     "a.sched:2:8: error: expected grid.x to block.z, found 'parallel'"},
    {"lower d\nprefetch B a -1",
     "a.sched:2:14: error: expected a number of iterations, found '-1'"},
    {"lower d\n\nfuse a b c d", "a.sched:3:10: error: expected 'as' and a name, found 'c'"},
    {"lower d\nunroll a 4 5", "a.sched:2:12: error: expected the end of the line, found '5'"},
    {"lower d\nunroll a 9999999", "a.sched:2:10: error: expected a factor, found '9999999'"},
    {"lower d\nstage t somewhere a.i", "a.sched:2:9: error: expected a scope, found 'somewhere'"},
    {"lower d\nreduce_split s r 4 middle",
     "a.sched:2:20: error: expected inner or outer, found 'middle'"},
    {"lower d\ninline", "a.sched:2:7: error: expected a statement at the end of the line"},
    {"lower d\nprecision s f32 3",
     "a.sched:2:13: error: expected 'bf16' and a number of terms, found 'f32'"},
    {"lower d\nprecision s bf16 4",
     "a.sched:2:18: error: expected a number of terms from 1 to 3, found '4'"},
    {"lower d\nstorage_order w.pack 0",
     "a.sched:2:22: error: expected a number of lanes from 1 to 4096, found '0'"},
    {"lower d\npack w 1/0", "a.sched:2:8: error: expected a positive factor, found '1/0'"},
    {"lower d\npack w 1%8/0", "a.sched:2:8: error: expected a positive factor, found '1%8/0'"},
    {"lower d\npack w 1/8/2", "a.sched:2:8: error: expected an axis, found '1/8/2'"},
    {"lower d\npack w x", "a.sched:2:8: error: expected a dimension, found 'x'"},
    {"lower d\nsplit a.i 4\ninline t",
     "a.sched:3:1: error: 'inline t' rewrites statements and must come before the loop steps"},
};
INSTANTIATE_TEST_SUITE_P(Texts, StepTextRejects, testing::ValuesIn(kMalformed));

}  // namespace
}  // namespace tunec::test
