// Tests of Compile with trials for an emulated GPU. The times are predicted, and reports call them
// predicted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "autotune/keys.h"
#include "compiler/report/report_json.h"
#include "support/check.h"
#include "tests/autotune/emulated_gpu.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using testing::ErrorAgainstReference;
using testing::GraphOf;
using ::testing::HasSubstr;
using testing::InMemory;
using testing::kTolerance;

constexpr std::string_view kProductRelu = R"(graph g {
  input a: f32[24, 40]
  input b: f32[40, 56]
  p = matmul(a, b)
  r = relu(p)
  output y = r
})";

CompileOptions For(const Target& target, int trials) {
  CompileOptions options = testing::Options(2);
  options.target = target;
  options.trials = trials;
  return options;
}

class PredictedTuning : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = testing::WhyNoPredictions(); !why.empty()) GTEST_SKIP() << why;
  }
  CompiledModel Compiled(const CompileOptions& options) {
    auto model = Compile(graph_, &database_, options);
    TUNEC_CHECK(model.has_value(), "{}", model.error().Format());
    return *std::move(model);
  }

  const Graph graph_ = GraphOf(kProductRelu);
  Database database_ = InMemory();
};

TEST_F(PredictedTuning, ASecondRunCompilesNothing) {
  const CompileOptions options = For(testing::EmulatedGpu(), 3);
  const CompiledModel first = Compiled(options);
  EXPECT_EQ(first.report.tuning.progress.measured, 3);
  EXPECT_TRUE(first.report.tuning.progress.predicted);
  // The executable uses the code that the worker compiled.
  EXPECT_EQ(first.report.objects_compiled, 0);
  const KernelReport& kernel = first.report.kernels.at(0);
  EXPECT_EQ(kernel.sketch_source, "predicted");
  EXPECT_FALSE(kernel.recorded_seconds);
  ASSERT_TRUE(kernel.predicted_seconds);
  // The report's prediction for the stored code equals the worker's prediction.
  ASSERT_EQ(kernel.predicted.size(), 1u);
  ASSERT_TRUE(kernel.predicted[0].time);
  EXPECT_DOUBLE_EQ(kernel.predicted[0].time->seconds, *kernel.predicted_seconds);
  EXPECT_GT(kernel.predicted[0].launch.registers, 0);
  const auto error = ErrorAgainstReference(graph_, *first.executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, kTolerance);

  const CompiledModel second = Compiled(options);
  EXPECT_EQ(second.report.tuning.progress.measured, 0);
  EXPECT_EQ(second.report.objects_compiled, 0);
  EXPECT_EQ(second.report.objects_reused, 1);
  EXPECT_EQ(second.report.kernels[0].schedule, kernel.schedule);
}

TEST_F(PredictedTuning, IsSaidInEveryPlace) {
  const CompileOptions options = For(testing::EmulatedGpu(), 3);
  const CompiledModel model = Compiled(options);
  const auto report = ReportJson(model, options);
  EXPECT_EQ(report.at("trials").at("times"), "predicted");
  const auto& kernel = report.at("kernels").at(0);
  EXPECT_EQ(kernel.at("schedule"), "predicted");
  EXPECT_TRUE(kernel.at("recorded_ms").is_null());
  EXPECT_GT(kernel.at("predicted_ms"), 0);

  // Code for the GPU itself gets the same schedule. The report names predictions as the source.
  const CompiledModel plain = Compiled(For(testing::Gpu(), 0));
  EXPECT_EQ(Describe(plain.report.known),
            "groups tuned: none of 1; by predicted times: 1 (3 trials)");
  EXPECT_EQ(plain.report.known.elsewhere, "");
  EXPECT_EQ(plain.report.kernels[0].sketch_source, "predicted");
  EXPECT_EQ(plain.report.kernels[0].schedule, model.report.kernels[0].schedule);
  const auto plain_report = ReportJson(plain, For(testing::Gpu(), 0));
  EXPECT_EQ(plain_report.at("trials").at("times"), "measured");
  EXPECT_EQ(plain_report.at("trials").at("recorded"), 0);
  EXPECT_EQ(plain_report.at("trials").at("groups_predicted_before"), 1);
}

TEST_F(PredictedTuning, TrialsKeepWhatIsKnownOfTheirCode) {
  Compiled(For(testing::EmulatedGpu(), 3));
  const auto tasks = database_.ListTrials({});
  ASSERT_TRUE(tasks) << tasks.error().Format();
  ASSERT_EQ(tasks->size(), 1u);
  EXPECT_EQ(tasks->front().key.policy, kPredictionPolicy);
  for (const TrialRecord& trial : tasks->front().trials) {
    EXPECT_EQ(trial.status, TrialStatus::kOk) << trial.message;
    EXPECT_THAT(trial.note, AllOf(HasSubstr("sketch="), HasSubstr(" code.registers=")));
    EXPECT_GT(trial.median_seconds, 2e-6);  // a launch alone takes longer
    EXPECT_TRUE(trial.samples.empty());
  }
}

TEST_F(PredictedTuning, WantsAPartThatIsKnown) {
  Target nobody = testing::Gpu("sm_103");
  nobody.device->features.emplace(kEmulated);
  const auto model = Compile(graph_, &database_, For(nobody, 3));
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().message, "no times are predicted: no GPU of sm_103 is known");
}

TEST_F(PredictedTuning, WithoutAGpuOrEmulationTrialsNameIt) {
  setenv("TUNEC_LIBCUDA", "/nowhere/libcuda.so.1", 1);
  const auto model = Compile(graph_, &database_, For(testing::Gpu(), 3));
  unsetenv("TUNEC_LIBCUDA");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kDevice);
  EXPECT_THAT(model.error().message,
              EndsWith("with --emulate, candidates are ranked by predicted times"));
}

}  // namespace
}  // namespace tunec
