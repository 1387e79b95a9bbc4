#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "autotune/simulation/record_times.h"
#include "autotune/simulation/simulate.h"
#include "support/file.h"
#include "support/random.h"
#include "tests/autotune/workloads.h"

namespace tunec {
namespace {

using ::testing::HasSubstr;

// Returns a table with all 64 candidates of a sketch with three knobs, and the naive one. The
// analytic candidate has the ratio 1.
TimeTable FullTable(double spread) {
  const Knob knob{.name = "rows", .choices = {1, 2, 4, 8}, .initial = 1};
  TimeTable table{.workload = "0",
                  .description = "by hand",
                  .target = "cpu",
                  .fixed_seconds = 1e-3,
                  .sketches = {{"direct/tile", {knob, knob, knob}}, {"direct/naive", {}}}};
  for (int i = 0; i < 64; ++i) {
    const Decisions decisions = {i % 4, i / 4 % 4, i / 16};
    double ratio = 0.97;
    for (const int d : decisions) ratio += 0.01 * (d - 2) * (d - 2);
    table.entries.push_back({.decisions = decisions, .ratio = ratio, .spread = spread});
  }
  table.entries.push_back({.sketch = 1, .ratio = 5, .spread = spread});
  return table;
}

SimulatedErrors Sum(const TimeTable& table, int64_t trials, auto simulate) {
  SimulatedErrors sum;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Result<SimulatedErrors> errors = simulate(table, trials, seed);
    if (!errors) ADD_FAILURE() << errors.error().Format();
    sum.exploration += errors->exploration;
    sum.selection += errors->selection;
    sum.trials += errors->trials;
  }
  return sum;
}

TEST(SimulationTest, EnoughTrialsWithoutNoiseMakeNoError) {
  for (const auto simulate : {SimulateSearch, SimulateDraws}) {
    const SimulatedErrors errors = Sum(FullTable(0), 200, simulate);
    EXPECT_EQ(errors.exploration, 0);
    EXPECT_EQ(errors.selection, 0);
  }
  EXPECT_EQ(Sum(FullTable(0), 200, SimulateSearch).trials, 8 * 64);  // the naive one is not tried
}

TEST(SimulationTest, FewTrialsExploreTooLittle) {
  for (const auto simulate : {SimulateSearch, SimulateDraws}) {
    const SimulatedErrors errors = Sum(FullTable(0), 4, simulate);
    EXPECT_GT(errors.exploration, 0);
    EXPECT_EQ(errors.selection, 0);
    EXPECT_EQ(errors.trials, 8 * 4);
  }
}

TEST(SimulationTest, NoiseMakesErrorsOfSelection) {
  for (const auto simulate : {SimulateSearch, SimulateDraws}) {
    const SimulatedErrors errors = Sum(FullTable(0.2), 200, simulate);
    EXPECT_EQ(errors.exploration, 0);
    EXPECT_GT(errors.selection, 0.01);
    EXPECT_LT(errors.selection, 8 * 0.1);
  }
}

TEST(SimulationTest, EqualSeedsGiveEqualErrors) {
  for (const auto simulate : {SimulateSearch, SimulateDraws}) {
    const auto first = simulate(FullTable(0.1), 20, 3);
    const auto second = simulate(FullTable(0.1), 20, 3);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->exploration, second->exploration);
    EXPECT_EQ(first->selection, second->selection);
  }
}

TEST(SimulationTest, FailuresAreTriedAndNeverChosen) {
  TimeTable table = FullTable(0);
  for (TableEntry& entry : table.entries) {
    if (entry.ratio < 0.975) entry = {entry.sketch, entry.decisions, TrialStatus::kWrongResult};
  }
  for (const auto simulate : {SimulateSearch, SimulateDraws}) {
    EXPECT_EQ(Sum(table, 200, simulate).exploration, 0);
  }
  for (TableEntry& entry : table.entries) entry.status = TrialStatus::kCrashed;
  for (const auto simulate : {SimulateSearch, SimulateDraws}) {
    const auto errors = simulate(table, 200, 0);
    ASSERT_FALSE(errors);
    EXPECT_THAT(errors.error().message, HasSubstr("tried candidates is correct"));
  }
}

TEST(TimeTableTest, TheNearestEntryHasTheLeastDistance) {
  TimeTable table = FullTable(0);
  EXPECT_EQ(NearestEntry(table, 0, {3, 1, 2}).decisions, (Decisions{3, 1, 2}));
  table.sketches[0].knobs[0].choices = {1, 2};  // one step is now the whole range
  table.entries = {{.decisions = {1, 0, 0}, .ratio = 1}, {.decisions = {0, 2, 0}, .ratio = 2}};
  EXPECT_EQ(NearestEntry(table, 0, {0, 0, 0}).ratio, 2);
  EXPECT_EQ(NearestEntry(table, 0, {1, 1, 0}).ratio, 1);
}

TEST(TimeTableTest, TextsReadBack) {
  TimeTable table = FullTable(0.015);
  table.entries[5] = {0, table.entries[5].decisions, TrialStatus::kTimedOut};
  const std::string text = Print(table);
  const Result<TimeTable> back = ParseTimeTable(text, "t");
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(Print(*back), text);
  EXPECT_EQ(back->entries, table.entries);
}

// Returns the error of a table in which `from` is replaced by `to`.
std::string ProblemOf(const std::string& from, const std::string& to) {
  std::string text = Print(FullTable(0.015));
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const Result<TimeTable> table = ParseTimeTable(text, "t.jsonl");
  return table ? "none" : table.error().Format();
}

TEST(TimeTableTest, MalformedTablesAreRejectedWithTheirLines) {
  EXPECT_THAT(ProblemOf("\"tunec_times\":1", "\"tunec_times\":2"),
              HasSubstr("t.jsonl:1: error: a table of version 2, expected 1"));
  EXPECT_THAT(ProblemOf("tunec_times", "times"), HasSubstr("t.jsonl:1: error: the first line"));
  EXPECT_THAT(ProblemOf("0.001}", "-1}"), HasSubstr("t.jsonl:1: error: fixed_seconds is -1"));
  EXPECT_THAT(ProblemOf("\"fixed_sketch\":0", "\"fixed_sketch\":7"),
              HasSubstr("the fixed kernel's sketch 7 is missing"));
  EXPECT_THAT(ProblemOf("\"initial\":1", "\"initial\":4"), HasSubstr("t.jsonl:2: error: the init"));
  EXPECT_THAT(ProblemOf("[1,2,4,8]", "[]"), HasSubstr("t.jsonl:2: error: the number of choices"));
  EXPECT_THAT(ProblemOf("[1,2,4,8]", "[1,2,4,8.5]"),
              HasSubstr("t.jsonl:2: error: a choice is 8.5"));
  EXPECT_THAT(ProblemOf("[0,[1,0,0]", "[2,[1,0,0]"),
              HasSubstr("t.jsonl:5: error: the sketch is 2"));
  EXPECT_THAT(ProblemOf("[0,[1,0,0]", "[0,[4,0,0]"),
              HasSubstr("t.jsonl:5: error: a decision is 4"));
  EXPECT_THAT(ProblemOf("[0,[1,0,0]", "[0,[1,0]"),
              HasSubstr("t.jsonl:5: error: the decisions are"));
  EXPECT_THAT(ProblemOf("[0,[1,0,0]", "[0,[0,0,0]"), HasSubstr("t.jsonl:5: error: the candidate"));
  EXPECT_THAT(ProblemOf(",0.015]", ",-1]"), HasSubstr("t.jsonl:4: error: the spread is -1"));
  EXPECT_THAT(ProblemOf(",0.015]", ",1e999]"), HasSubstr("t.jsonl:4: error: malformed line"));
  EXPECT_THAT(ProblemOf("[1,[],5,0.015]", "[1,[],\"ok\"]"),
              HasSubstr("\"ok\" is no status of a failure"));
  EXPECT_THAT(ProblemOf("[1,[],5,0.015]\n", ""), HasSubstr("sketch 'direct/naive' has no cand"));
  EXPECT_THAT(ProblemOf("[1,[],5,0.015]", "[1,[],5,0.015"), HasSubstr("t.jsonl:68: error: malf"));
  EXPECT_THAT(ProblemOf("[1,[],5,0.015]", "[]"), HasSubstr("t.jsonl:68: error: malformed line"));
  EXPECT_FALSE(ParseTimeTable("", "t"));
}

TEST(TimeTableTest, ChangedBytesAreRejectedOrSimulated) {
  const std::string text = Print(FullTable(0.015));
  Random random(7);
  int simulated = 0;
  for (int i = 0; i < 400; ++i) {
    std::string changed = text;
    constexpr std::string_view kBytes = "0123456789-.e,[]{}\"\n\\ \xff";
    changed[random.Below(changed.size())] = kBytes[random.Below(kBytes.size())];
    const Result<TimeTable> table = ParseTimeTable(changed, "t");
    if (!table) continue;
    ++simulated;
    EXPECT_TRUE(ParseTimeTable(Print(*table), "t"));
    for (const auto simulate : {SimulateSearch, SimulateDraws}) (void)simulate(*table, 8, 0);
  }
  EXPECT_GT(simulated, 10);
  EXPECT_LT(simulated, 390);
}

// A measurer whose candidates take 1 ms plus 1 us for each character. Fails after `most` of them.
// The measured time of the candidate `lucky` is half of its time in comparisons.
class LengthMeasurer : public Measurer {
 public:
  Status Measure(const Workload&, std::span<const CandidateRequest> candidates,
                 const std::optional<Incumbent>& incumbent,
                 const OnMeasured& on_measured) override {
    for (size_t i = candidates.size(); i-- > 0;) {
      if (most-- == 0) return Fail(ErrorCode::kCancelled, "cancelled");
      incumbents.push_back(incumbent);
      const double luck = candidates[i].schedule == lucky ? 0.5 : 1;
      TUNEC_RETURN_IF_ERROR(on_measured(i, {.samples = SamplesOf(candidates[i], luck)}));
    }
    return {};
  }
  Status Compare(const Workload&, std::span<const CandidateRequest> candidates, double,
                 const OnMeasured& on_measured) override {
    for (size_t i = 0; i < candidates.size(); ++i)
      TUNEC_RETURN_IF_ERROR(on_measured(i, {.samples = SamplesOf(candidates[i], 1)}));
    return {};
  }
  static std::vector<double> SamplesOf(const CandidateRequest& candidate, double luck) {
    const double seconds = luck * (1e-3 + 1e-6 * static_cast<double>(candidate.schedule.size()));
    return {seconds, 1.1 * seconds, 0.9 * seconds};
  }
  std::string lucky;
  int64_t most = -1;
  std::vector<std::optional<Incumbent>> incumbents;
};

SearchSpace SpaceOf(std::vector<int64_t> choices) {
  Sketch tile{.name = "tile", .knobs = {{"rows", std::move(choices), 1}}};
  tile.knobs.push_back({"columns", {1, 16, 256}, 0});
  tile.fill = [](const std::vector<int64_t>& values) {
    return Schedule{.lowering = "direct", .loop_steps = {SplitStep{"acc.i", values}}};
  };
  Sketch naive{.name = "naive"};
  naive.fill = [](const std::vector<int64_t>&) { return Schedule{.lowering = "direct"}; };
  return SearchSpace({tile, naive});
}

TEST(RecordTimesTest, MeasuresEveryCandidateInTurnsWithTheAnalyticSchedule) {
  const TuningTask task = testing::TaskOf(testing::MatmulRelu());
  const Workload workload = testing::WorkloadOf(testing::MatmulRelu());
  const SearchSpace space = SpaceOf({1, 10, 100});
  LengthMeasurer measurer;
  TimeTable table;
  const Status recorded =
      RecordTimes(table, task, workload, space, measurer, {.candidates = 100, .batch = 4});
  ASSERT_TRUE(recorded) << recorded.error().Format();
  ASSERT_EQ(table.entries.size(), 9u + 1);  // the naive schedule is measured, too
  EXPECT_EQ(table.entries[0].decisions, (Decisions{1, 0}));
  EXPECT_EQ(table.entries[0].ratio, 1);
  EXPECT_NEAR(table.entries[0].spread, 0.1, 1e-9);
  EXPECT_LT(table.entries[1].ratio, 1);
  EXPECT_EQ(table.sketches[0].name, "direct/tile");
  EXPECT_EQ(measurer.incumbents[0], std::nullopt);
  const Incumbent fixed{space.Initial(0).schedule, table.fixed_seconds};
  for (size_t i = 1; i < measurer.incumbents.size(); ++i) {
    EXPECT_EQ(measurer.incumbents[i], fixed);
  }
  EXPECT_TRUE(ParseTimeTable(Print(table), "t"));
}

TEST(RecordTimesTest, TheFastestAreComparedAgain) {
  const TuningTask task = testing::TaskOf(testing::MatmulRelu());
  const Workload workload = testing::WorkloadOf(testing::MatmulRelu());
  const SearchSpace space = SpaceOf({1, 10, 100});
  LengthMeasurer measurer;
  measurer.lucky = space.At(0, {2, 2}).schedule;
  TimeTable table;
  ASSERT_TRUE(RecordTimes(table, task, workload, space, measurer, {.candidates = 100}));
  for (const TableEntry& entry : table.entries) EXPECT_GT(entry.ratio, 0.9);
}

TEST(RecordTimesTest, CompletesAPartOfATable) {
  const TuningTask task = testing::TaskOf(testing::MatmulRelu());
  const Workload workload = testing::WorkloadOf(testing::MatmulRelu());
  std::vector<int64_t> choices(300);
  for (size_t i = 0; i < choices.size(); ++i) choices[i] = static_cast<int64_t>(i) + 1;
  const SearchSpace space = SpaceOf(choices);
  const RecordingOptions options{.candidates = 30, .seed = 1, .batch = 4};
  LengthMeasurer measurer;
  TimeTable whole;
  ASSERT_TRUE(RecordTimes(whole, task, workload, space, measurer, options));
  TimeTable part;
  measurer.most = 11;
  const Status cancelled = RecordTimes(part, task, workload, space, measurer, options);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(part.entries.size(), 8u);
  measurer.most = -1;
  ASSERT_TRUE(RecordTimes(part, task, workload, space, measurer, options));
  EXPECT_EQ(Print(part), Print(whole));
  const auto rejects = [&](const SearchSpace& other, uint64_t seed) {
    return !RecordTimes(part, task, workload, other, measurer, {.candidates = 30, .seed = seed});
  };
  EXPECT_TRUE(rejects(space, 2));
  EXPECT_TRUE(rejects(SpaceOf({1, 2, 3}), 1));
  EXPECT_FALSE(rejects(space, 1));
}

// The tables that tests/tuning/record.sh measured.
TEST(TimeTableTest, TheRecordedTablesCanBeRead) {
  const std::filesystem::path folder = std::filesystem::path(TUNEC_TEST_DATA) / "tuning/tables";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no tables";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const Result<std::string> text = ReadFile(file.path());
    ASSERT_TRUE(text) << text.error().Format();
    const Result<TimeTable> table = ParseTimeTable(*text, file.path());
    EXPECT_TRUE(table) << table.error().Format();
    EXPECT_LT(text->size(), 300'000u) << file.path();
  }
}

}  // namespace
}  // namespace tunec
