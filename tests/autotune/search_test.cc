#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "autotune/search/strategy.h"
#include "autotune/search/task_scheduler.h"

namespace tunec {
namespace {

// Returns a sketch with the given knobs. Its schedule is one split whose factors are the values of
// the knobs.
Sketch MakeSketch(std::string name, std::vector<Knob> knobs) {
  Sketch sketch{.name = std::move(name), .knobs = std::move(knobs)};
  sketch.fill = [label = sketch.name](const std::vector<int64_t>& values) {
    return Schedule{.lowering = "direct", .loop_steps = {SplitStep{label, values}}};
  };
  return sketch;
}

std::vector<int64_t> Scale(int64_t count) {
  std::vector<int64_t> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

SearchSpace SmallSpace() {
  return SearchSpace({MakeSketch("tile", {{"rows", Scale(5), 2}, {"columns", Scale(4), 1}}),
                      MakeSketch("rows", {{"unroll", Scale(3), 0}}), MakeSketch("naive", {})});
}

SearchSpace LargeSpace() {
  const auto knob = [](const char* name) { return Knob{name, Scale(16), 8}; };
  return SearchSpace(
      {MakeSketch("tile", {knob("a"), knob("b"), knob("c"), knob("d")}), MakeSketch("naive", {})});
}

// Returns 1 plus the sum of the squared differences between the decisions and `centre`.
double Cost(const Candidate& candidate, int centre) {
  double cost = 1;
  for (const int d : candidate.decisions) cost += std::pow(d - centre, 2);
  return cost;
}

void Try(History& history, const Candidate& candidate, double seconds) {
  history.Add({candidate, candidate.schedule, TrialStatus::kOk, seconds});
}

std::vector<std::string> Texts(const std::vector<Candidate>& candidates) {
  std::vector<std::string> texts;
  for (const Candidate& candidate : candidates) texts.push_back(candidate.schedule);
  return texts;
}

TEST(SearchSpaceTest, LeavesTheNaiveSketchOut) {
  const SearchSpace space = SmallSpace();
  EXPECT_EQ(space.Size(), 23);
  EXPECT_EQ(space.Searched(), 2);
  EXPECT_EQ(SearchSpace({MakeSketch("naive", {})}).Searched(), 1);
}

TEST(SearchSpaceTest, NotesReadBack) {
  const SearchSpace space = SmallSpace();
  const Candidate candidate = space.At(0, {4, 3});
  const std::string note = space.Describe(candidate) + " by=random seed=3";
  EXPECT_EQ(note, "sketch=direct/tile rows=5 columns=4 by=random seed=3");
  const auto back = space.Recall(note, candidate.schedule);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->decisions, candidate.decisions);
  EXPECT_FALSE(space.Recall(note, "lower direct\n"));
  EXPECT_FALSE(space.Recall("nothing", candidate.schedule));
}

// In a composed sketch, the name of a knob begins with the name of a statement.
TEST(SearchSpaceTest, NamesOfKnobsMayHaveBlanks) {
  const SearchSpace space(
      {MakeSketch("composed", {{"t rows", Scale(5), 0}, {"C rows", Scale(5), 0}}),
       MakeSketch("naive", {})});
  const Candidate candidate = space.At(0, {4, 2});
  const std::string note = space.Describe(candidate) + " by=random seed=3";
  EXPECT_EQ(note, "sketch=direct/composed t rows=5 C rows=3 by=random seed=3");
  const auto back = space.Recall(note, candidate.schedule);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->decisions, candidate.decisions);
}

// Earlier versions of tunec numbered tile sketches by position. Searches that converged under these
// versions stay converged.
TEST(SearchSpaceTest, TheNumberOfASpaceDoesNotDependOnTheNamesOfTiles) {
  const auto space = [](const char* first, const char* second) {
    std::vector<Sketch> sketches = {MakeSketch("a", {{"rows", Scale(5), 2}}),
                                    MakeSketch("b", {{"rows", Scale(3), 0}}),
                                    MakeSketch("naive", {})};
    sketches[0].name = first;
    sketches[1].name = second;
    return SearchSpace(std::move(sketches)).Fingerprint();
  };
  EXPECT_EQ(space("tile/j", "tile/j/wide"), space("tile", "tile2"));
  EXPECT_EQ(space("rows", "tile/j"), space("rows", "tile2"));
  EXPECT_NE(space("tile/j", "rows"), space("tile/j", "columns"));
}

// Schedules of earlier versions do not contain the storage order of copies.
TEST(SearchSpaceTest, TheNumberOfASpaceDoesNotDependOnHowCopiesAreStored) {
  const auto space = [](const std::vector<LoopStep>& steps) {
    Sketch sketch = MakeSketch("tile", {{"rows", Scale(5), 2}});
    sketch.fill = [steps](const std::vector<int64_t>&) {
      return Schedule{.lowering = "direct", .loop_steps = steps};
    };
    return SearchSpace({sketch, MakeSketch("naive", {})}).Fingerprint();
  };
  const LoopStep split = SplitStep{"acc.i", {4}};
  EXPECT_EQ(space({StorageOrderStep{"w.pack", 64}, split}), space({split}));
  EXPECT_NE(space({split}), space({SplitStep{"acc.i", {8}}}));
}

TEST(SearchSpaceTest, TransfersTheNearestValues) {
  const SearchSpace space = SmallSpace();
  const auto moved = space.Transfer("sketch=direct/tile rows=100 depth=7");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->decisions, (Decisions{4, 1}));
  EXPECT_FALSE(space.Transfer("sketch=direct/other rows=1"));
}

TEST(HistoryTest, KnowsItsBestAndItsProgress) {
  const SearchSpace space = SmallSpace();
  History history;
  EXPECT_FALSE(history.HasCorrect());
  history.Add({space.At(0, {0, 0}), space.At(0, {0, 0}).schedule, TrialStatus::kCrashed});
  EXPECT_FALSE(history.HasCorrect());
  Try(history, space.At(0, {1, 0}), 2);
  EXPECT_EQ(history.CountStale(), 0);
  Try(history, space.At(0, {2, 0}), 1.995);
  EXPECT_EQ(history.CountStale(), 1);
  EXPECT_EQ(history.Best(), 1.995);
  Try(history, space.At(0, {2, 0}), 1);  // ignored, because the history has this candidate
  EXPECT_EQ(history.Best(), 1.995);
  ASSERT_EQ(history.Ranked().size(), 2u);
  EXPECT_EQ(history.Ranked()[0].candidate->decisions, (Decisions{2, 0}));
  history.SetSeconds(space.At(0, {2, 0}).schedule, 3);
  EXPECT_EQ(history.Best(), 2);
}

TEST(HistoryTest, KnowsTheGainOfTheLaterHalf) {
  const SearchSpace space = LargeSpace();
  History history;
  history.Add({space.At(0, {9, 9, 9, 9}), "crash", TrialStatus::kCrashed});
  for (int i = 0; i < 6; ++i) {
    Try(history, space.At(0, {i, 0, 0, 0}), 10 - i);
    EXPECT_EQ(history.SavedByLaterHalf(), std::nullopt) << "too few candidates";
  }
  Try(history, space.At(0, {6, 0, 0, 0}), 8);
  EXPECT_EQ(history.SavedByLaterHalf(), 3);  // 8 with the first three correct ones, then 5
  for (int i = 7; i < 15; ++i) Try(history, space.At(0, {i, 0, 0, 0}), 6);
  EXPECT_EQ(history.SavedByLaterHalf(), 0);
  History failed;
  for (int i = 0; i < 7; ++i) {
    const Candidate candidate = space.At(0, {i, 0, 0, 0});
    failed.Add({candidate, candidate.schedule, TrialStatus::kCrashed});
  }
  Try(failed, space.At(0, {7, 0, 0, 0}), 1);
  EXPECT_EQ(failed.SavedByLaterHalf(), std::nullopt) << "nothing to compare with";
}

TEST(RandomStrategyTest, ExhaustsASmallSpace) {
  const SearchSpace space = SmallSpace();
  History history;
  Random random(1);
  const auto strategy = MakeRandomStrategy();
  std::set<std::string> all;
  for (;;) {
    const auto proposed = strategy->Propose(space, history, 4, random);
    if (proposed.empty()) break;
    for (const Candidate& candidate : proposed) {
      EXPECT_TRUE(all.insert(candidate.schedule).second);
      Try(history, candidate, 1);
    }
  }
  EXPECT_EQ(all.size(), 23u);
}

TEST(RandomStrategyTest, LeavesHopelessSketchesAlone) {
  const SearchSpace space = SmallSpace();
  History history;
  Try(history, space.Initial(0), 1);
  Try(history, space.Initial(1), 5);
  EXPECT_TRUE(history.IsHopeless(1));
  EXPECT_FALSE(history.IsHopeless(0));
  Random random(1);
  const auto proposed = MakeRandomStrategy()->Propose(space, history, 100, random);
  EXPECT_EQ(proposed.size(), 19u);
  for (const Candidate& candidate : proposed) EXPECT_EQ(candidate.sketch, 0);
}

TEST(StrategyTest, EqualSeedsGiveEqualProposals) {
  const SearchSpace space = LargeSpace();
  History history;
  for (int i = 0; i < 6; ++i) {
    Try(history, space.At(0, {i, 2 * i, 3, 15 - i}), 1 + i % 3);
  }
  for (const auto& make : {MakeRandomStrategy, MakeEvolutionaryStrategy, MakeCoordinateDescent}) {
    Random a(5);
    Random b(5);
    Random c(6);
    const auto first = Texts(make()->Propose(space, history, 8, a));
    EXPECT_EQ(first.size(), 8u);
    EXPECT_EQ(first, Texts(make()->Propose(space, history, 8, b)));
    EXPECT_NE(first, Texts(make()->Propose(space, history, 8, c)));
    for (const std::string& text : first) EXPECT_FALSE(history.HasSeen(text));
  }
}

double SearchFor(const Strategy& strategy, int trials, uint64_t seed) {
  const SearchSpace space = LargeSpace();
  History history;
  Random random(seed);
  Try(history, space.Initial(0), Cost(space.Initial(0), 3));
  while (static_cast<int>(history.size()) < trials) {
    const auto proposed = strategy.Propose(space, history, 8, random);
    if (proposed.empty()) break;
    for (const Candidate& candidate : proposed) Try(history, candidate, Cost(candidate, 3));
  }
  return *history.Best();
}

TEST(StrategyTest, LearningBeatsGuessing) {
  double evolved = 0;
  double guessed = 0;
  double descended = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    evolved += SearchFor(*MakeEvolutionaryStrategy(), 100, seed);
    guessed += SearchFor(*MakeRandomStrategy(), 100, seed);
    descended += SearchFor(*MakeCoordinateDescent(), 250, seed);
  }
  EXPECT_LT(evolved, 0.7 * guessed);
  EXPECT_EQ(descended, 10);  // each of ten searches finds the minimum, which is 1
}

TEST(CoordinateDescentTest, TriesTheNeighboursOfTheBestFirst) {
  const SearchSpace space = SmallSpace();
  History history;
  Try(history, space.At(0, {2, 1}), 1);
  Try(history, space.At(0, {0, 0}), 2);
  Random random(1);
  for (const Candidate& c : MakeCoordinateDescent()->Propose(space, history, 4, random)) {
    EXPECT_EQ(std::abs(c.decisions[0] - 2) + std::abs(c.decisions[1] - 1), 1);
  }
}

TEST(TaskSchedulerTest, EveryTaskHasOneTrialFirst) {
  std::vector<TaskState> tasks(3);
  tasks[0] = {.weight = 1, .roofline_seconds = 1};
  tasks[1] = {.weight = 5, .roofline_seconds = 1};
  tasks[2] = {.weight = 1, .roofline_seconds = 3, .best_seconds = 9, .trials = 4};
  const auto share = NextShare(tasks, 10, 8);
  ASSERT_TRUE(share);
  EXPECT_EQ(share->task, 1u);
  EXPECT_EQ(share->trials, 1);
  tasks[1].trials = 1;
  EXPECT_EQ(NextShare(tasks, 10, 8)->task, 0u);
  EXPECT_FALSE(NextShare(tasks, 0, 8));
}

TEST(TaskSchedulerTest, SharesFollowTheExpectedGain) {
  std::vector<TaskState> tasks(3);
  tasks[0] = {.weight = 1, .roofline_seconds = 1, .best_seconds = 2, .trials = 1};
  tasks[1] = {.weight = 3, .roofline_seconds = 1, .best_seconds = 2, .trials = 1};
  tasks[2] = {.weight = 50, .roofline_seconds = 1, .best_seconds = 2, .trials = 1, .done = true};
  int64_t remaining = 400;
  while (const auto share = NextShare(tasks, remaining, 12)) {
    EXPECT_LE(share->trials, 12);
    tasks[share->task].trials += share->trials;
    remaining -= share->trials;
  }
  EXPECT_EQ(remaining, 0);
  EXPECT_EQ(tasks[2].trials, 1);
  const double ratio = static_cast<double>(tasks[1].trials) / static_cast<double>(tasks[0].trials);
  EXPECT_NEAR(ratio, 3, 0.5);
}

TEST(TaskSchedulerTest, StaleTasksStepBack) {
  std::vector<TaskState> tasks(2);
  tasks[0] = {.roofline_seconds = 1, .best_seconds = 2, .trials = 20, .stale = 20};
  tasks[1] = {.roofline_seconds = 1, .best_seconds = 2, .trials = 20, .stale = 0};
  EXPECT_EQ(NextShare(tasks, 100, 12)->task, 1u);
  tasks[1].done = true;
  EXPECT_EQ(NextShare(tasks, 100, 12)->task, 0u);
  tasks[0].done = true;
  EXPECT_FALSE(NextShare(tasks, 100, 12));
}

// Both tasks are as far from their rooflines, but only one of them still became faster.
TEST(TaskSchedulerTest, AGainIsExpectedWhereTheLastTrialsHadOne) {
  std::vector<TaskState> tasks(2);
  tasks[0] = {.roofline_seconds = 1, .best_seconds = 2, .trials = 20, .saved = 0.001};
  tasks[1] = {.roofline_seconds = 1, .best_seconds = 2, .trials = 20, .saved = 0.5};
  const auto share = NextShare(tasks, 100, 12);
  EXPECT_EQ(share->task, 1u);
  EXPECT_NEAR(share->part, 0.5 / 0.54, 1e-12);
  EXPECT_DOUBLE_EQ(ExpectedGain(tasks[0]), 0.04);  // 2 % of its time
  tasks[1].saved = 5;                              // from a slow first schedule
  EXPECT_DOUBLE_EQ(ExpectedGain(tasks[1]), 1) << "no task gets faster than its roofline";
}

TEST(TaskSchedulerTest, ATaskWithoutACorrectScheduleGoesFirst) {
  std::vector<TaskState> tasks(2);
  tasks[0] = {.weight = 1e6, .roofline_seconds = 1, .best_seconds = 2, .trials = 1};
  tasks[1] = {.roofline_seconds = 1e-6, .trials = 1};
  EXPECT_EQ(NextShare(tasks, 100, 12)->task, 1u);
}

}  // namespace
}  // namespace tunec
