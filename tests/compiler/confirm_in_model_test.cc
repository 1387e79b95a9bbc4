// Tests the comparison of a tuned model with the model before tuning.
#include "compiler/tuning/confirm_in_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autotune/keys.h"
#include "compiler/front_end.h"
#include "compiler/tuning/tune_model.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kProduct = R"(graph product {
  input x: f32[192, 192]
  weight w: f32[192, 192]
  p = matmul(x, w)
  r = relu(p)
  output y = r
})";

// A model with one task, its fastest analytic schedule, and its naive schedule, which takes many
// times as long.
class ConfirmInModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.on_log = [this](const std::string& line) { lines_.push_back(line); };
    front_.emplace(*RunFrontEnd(testing::GraphOf(kProduct), options_));
    tasks_ = CollectTasks(*front_, options_.target);
    ASSERT_EQ(tasks_.unique.size(), 1u);
    key_ = MakeTuningKey(tasks_.unique[0], options_.target, options_.accuracy);
    tuner_ = MakeTunerOptions(options_);
    analytic_ = Print(*BestSchedule(nullptr, tasks_.unique[0], tuner_));
    naive_ = Print(Schedule{.lowering = tasks_.unique[0].lowerings[0].name});
    ASSERT_NE(analytic_, naive_);
    for (const std::string& schedule : {analytic_, naive_}) {
      const TrialRecord trial{.schedule = schedule, .median_seconds = 1e-3, .samples = {1e-3}};
      ASSERT_TRUE(database_.RecordTrial(key_, trial));
    }
  }
  std::vector<ScheduleRanking> Before(const std::string& schedule) {
    EXPECT_TRUE(database_.Choose(key_, schedule));
    return *RankTasks(&database_, tasks_, tuner_);
  }
  std::optional<GainInModel> Confirmed(std::vector<ScheduleRanking> before,
                                       const std::string& tuned) {
    EXPECT_TRUE(database_.Choose(key_, tuned));
    kernels_ = *BuildKernels(tasks_.unique, &database_, options_, tuner_);
    auto gain =
        ConfirmInModel(*front_, tasks_, std::move(before), database_, options_, tuner_, kernels_);
    EXPECT_TRUE(gain) << gain.error().Format();
    return gain ? *gain : std::nullopt;
  }

  CompileOptions options_ = testing::Options();
  Database database_ = testing::InMemory();
  std::vector<std::string> lines_;
  std::optional<FrontReport> front_;
  ModelTasks tasks_;
  TuningKey key_;
  TunerOptions tuner_;
  std::string analytic_, naive_;
  std::vector<BuiltKernel> kernels_;
};

TEST_F(ConfirmInModelTest, AScheduleThatDoesNotHelpIsNotUsed) {
  const auto gain = Confirmed(Before(analytic_), naive_);
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->restored, 1);
  EXPECT_EQ(gain->ratio, 1) << "the model is the earlier one";
  EXPECT_EQ(**database_.Chosen(key_), analytic_);
  EXPECT_EQ(Print(kernels_[0].schedule.schedule), analytic_);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("times as long as the earlier one in the model"),
                                  HasSubstr("in the model: ")));
}

TEST_F(ConfirmInModelTest, AGainIsStated) {
  const auto gain = Confirmed(Before(naive_), analytic_);
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->restored, 0);
  EXPECT_LT(gain->high, 1);
  EXPECT_LE(gain->low, gain->ratio);
  EXPECT_LE(gain->ratio, gain->high);
  EXPECT_EQ(**database_.Chosen(key_), analytic_);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("of it tuned")));
}

TEST_F(ConfirmInModelTest, WithoutAChangeThereIsNothingToCompare) {
  EXPECT_FALSE(Confirmed(Before(analytic_), analytic_));
  EXPECT_TRUE(lines_.empty());
}

TEST_F(ConfirmInModelTest, CanBeCancelled) {
  std::vector<ScheduleRanking> before = Before(analytic_);
  ASSERT_TRUE(database_.Choose(key_, naive_));
  kernels_ = *BuildKernels(tasks_.unique, &database_, options_, tuner_);
  options_.cancelled = [] { return true; };
  const auto gain =
      ConfirmInModel(*front_, tasks_, std::move(before), database_, options_, tuner_, kernels_);
  ASSERT_FALSE(gain);
  EXPECT_EQ(gain.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(**database_.Chosen(key_), naive_);
}

}  // namespace
}  // namespace tunec
