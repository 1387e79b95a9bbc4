// Tests the preference for schedules whose packed weights already exist. Such a schedule may be
// ranked first if it is about as fast as the best schedule.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "autotune/best_schedule.h"
#include "autotune/keys.h"
#include "tests/autotune/scripted_tuning.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/operators.h"
#include "tests/programs/products.h"

namespace tunec {
namespace {

using testing::TaskOf;

class PackedRanking : public testing::TunerTest {
 protected:
  PackedRanking() { tasks_ = {TaskOf(test::MustParse(test::kWeightMatmul))}; }

  static std::string PackedBy(int columns) {
    return fmt::format("lower direct\npack B 0/{0} 1 0%{0}\n", columns);
  }
  void Record(const std::string& schedule, double seconds, TrialStatus status = TrialStatus::kOk) {
    TrialRecord trial{.status = status, .schedule = schedule};
    if (status == TrialStatus::kOk) trial.samples = {seconds};
    trial.median_seconds = seconds;
    ASSERT_TRUE(database_->RecordTrial(MakeTuningKey(tasks_[0], options_.target, {}), trial));
  }
  // Returns the schedule that is ranked first if the weight already exists in a form that is packed
  // for tiles of `held` columns. If `held` is 0, no packed weight exists.
  std::string First(int held) const {
    const IsPacked packed = [held](const PackStep& pack) {
      return pack.tensor == "B" && pack.axes.front().factor == held;
    };
    auto ranking = ScheduleRanking::Of(database_.get(), tasks_[0], options_, packed);
    EXPECT_TRUE(ranking.has_value());
    return Print(ranking->Next()->schedule);
  }
};

TEST_F(PackedRanking, WhatIsPackedGoesBeforeWhatIsLittleFaster) {
  Record(PackedBy(16), 1.00e-3);
  Record(PackedBy(32), 1.04e-3);
  Record(PackedBy(48), 1.06e-3);
  EXPECT_EQ(First(0), PackedBy(16));
  EXPECT_EQ(First(16), PackedBy(16));
  EXPECT_EQ(First(32), PackedBy(32));
  EXPECT_EQ(First(48), PackedBy(16)) << "six percent are too many";
}

TEST_F(PackedRanking, TheFastestOfThoseIsTaken) {
  Record(PackedBy(16), 1.00e-3);
  Record(PackedBy(32) + "parallelize acc.i\n", 1.04e-3);
  Record(PackedBy(32), 1.03e-3);
  EXPECT_EQ(First(32), PackedBy(32));
}

TEST_F(PackedRanking, TheBestRecordFollows) {
  Record(PackedBy(16), 1.00e-3);
  Record(PackedBy(32), 1.04e-3);
  const IsPacked packed = [](const PackStep& pack) { return pack.axes.front().factor == 32; };
  auto ranking = ScheduleRanking::Of(database_.get(), tasks_[0], options_, packed);
  ASSERT_TRUE(ranking.has_value());
  EXPECT_EQ(ranking->Next()->seconds, 1.04e-3);
  EXPECT_EQ(ranking->Next()->seconds, 1.00e-3);
  EXPECT_FALSE(ranking->Next()->seconds) << "then analytic ones";
}

TEST_F(PackedRanking, FailuresAndWhatPacksNothingAreNoChoice) {
  Record(PackedBy(16), 1.00e-3);
  Record(PackedBy(32), 0, TrialStatus::kWrongResult);
  Record("lower direct\npack A 0/32 1 0%32\n", 1.01e-3);
  Record("lower direct\nparallelize acc.i\n", 1.01e-3);
  EXPECT_EQ(First(32), PackedBy(16));
}

// If the fastest schedule packs no weight, it needs no memory for packed weights and stays first.
TEST_F(PackedRanking, ABestOneThatPacksNothingStays) {
  Record("lower direct\nparallelize acc.i\n", 1.00e-3);
  Record(PackedBy(32), 1.01e-3);
  EXPECT_EQ(First(32), "lower direct\nparallelize acc.i\n");
}

// Tiles whose rows have two, three or four vectors have about the same analytic cost.
TEST_F(PackedRanking, AnalyticSchedulesPreferItToo) {
  tasks_ = {
      TaskOf(test::MustParse(test::ProductText({.rows = 64,
                                                .columns = 768,
                                                .length = 256,
                                                .right = {.index = "j, k", .weight = "constant"},
                                                .value = "acc[i, j] + 1.0"})))};
  options_.target.host.vector_bits = 512;
  options_.target.host.vector_registers = 32;
  std::erase_if(options_.target.host.features,
                [](const std::string& feature) { return feature.starts_with("amx"); });
  for (const int columns : {32, 48, 64}) {
    const std::string expected = fmt::format("pack B 0/{0} 1 0%{0}\n", columns);
    EXPECT_NE(First(columns).find(expected), std::string::npos) << First(columns);
  }
}

}  // namespace
}  // namespace tunec
