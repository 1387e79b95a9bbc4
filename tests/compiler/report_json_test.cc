// Tests that the JSON form of a compile report agrees with the report.
#include "compiler/report/report_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/compiler/models.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;
using testing::GraphOf;
using testing::InMemory;
using testing::kConvRelu;
using testing::Options;

TEST(ReportJson, TellsWhatWasTunedAndReused) {
  Database database = InMemory();
  CompileOptions options = Options(1);
  options.trials = 4;
  const auto tuned = Compile(GraphOf(kConvRelu), &database, options);
  ASSERT_TRUE(tuned) << tuned.error().Format();
  const Json report = ReportJson(*tuned, options);
  EXPECT_EQ(report.at("threads"), 1);
  EXPECT_EQ(report.at("accuracy"), "f32");
  EXPECT_EQ(report.at("groups"), 1);
  EXPECT_EQ(report.at("trials").at("asked"), 4);
  EXPECT_EQ(report.at("trials").at("new"), tuned->report.tuning.progress.measured);
  EXPECT_TRUE(report.at("trials").at("stopped").is_string());
  EXPECT_GT(report.at("trials").at("elapsed_seconds"), 0);
  EXPECT_GT(report.at("constant_bytes"), 0);
  const Json& kernel = report.at("kernels").at(0);
  EXPECT_EQ(kernel.at("schedule"), "tuned");
  EXPECT_EQ(kernel.at("object"), "reused");
  EXPECT_GT(kernel.at("recorded_ms"), 0);
  EXPECT_EQ(kernel.at("arithmetic"), "fma.f32");
  EXPECT_EQ(kernel.at("workload"), tuned->report.kernels[0].workload);

  options.trials = 0;
  options.sketches = SketchSet::kNaiveOnly;
  const auto naive = Compile(GraphOf(kConvRelu), nullptr, options);
  ASSERT_TRUE(naive) << naive.error().Format();
  const Json untuned = ReportJson(*naive, options);
  EXPECT_TRUE(untuned.at("trials").at("stopped").is_null());
  EXPECT_EQ(untuned.at("kernels").at(0).at("schedule"), "naive");
  EXPECT_EQ(untuned.at("kernels").at(0).at("object"), "compiled");
  EXPECT_TRUE(untuned.at("kernels").at(0).at("recorded_ms").is_null());
  EXPECT_TRUE(untuned.at("kernels").at(0).at("notes").empty());
}

TEST(ReportJson, CountsEqualKernelsInOneRow) {
  const CompileOptions options = Options(1);
  auto model = Compile(GraphOf(kConvRelu), nullptr, options);
  ASSERT_TRUE(model) << model.error().Format();
  std::vector<KernelReport>& kernels = model->report.kernels;
  kernels.push_back(kernels[0]);
  kernels.push_back(kernels[0]);
  kernels[1].workload = "another";
  kernels[1].notes = {"a line"};
  const Json report = ReportJson(*model, options);
  EXPECT_EQ(report.at("groups"), 3);
  EXPECT_EQ(report.at("distinct_kernels"), 2);
  const Json& rows = report.at("kernels");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("group"), 0);
  EXPECT_EQ(rows[0].at("count"), 2);
  EXPECT_EQ(rows[1].at("group"), 1);
  EXPECT_EQ(rows[1].at("count"), 1);
  EXPECT_EQ(rows[1].at("notes"), Json({"a line"}));
}

}  // namespace
}  // namespace tunec
