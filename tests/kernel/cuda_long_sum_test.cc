// Tests of long reductions with few results on a GPU. On the emulated GPU, sums must be as exact as
// those of short chains of additions. One chain of all terms would have a large error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "schedule/sketch.h"
#include "schedule/sketches/device_phase.h"
#include "tests/jit/nest_runner.h"
#include "tests/schedule/harness.h"

namespace tunec::test {
namespace {

struct LongSum {
  std::string name;
  std::string text;
};
void PrintTo(const LongSum& sum, std::ostream* out) { *out << sum.name; }

std::vector<LongSum> Cases() {
  return {{"all", R"(compute all {
  input X: f32[1000003]
  output Y: f32[]
  Y[k: 1000003 reduction]:
    Y[] sum= X[k]
})"},
          {"both_axes", R"(compute both_axes {
  input X: f32[1003, 517]
  output Y: f32[]
  workspace acc: f32[]
  acc[i: 1003 reduction, k: 517 reduction]:
    acc[] sum= X[i, k]
  Y[]:
    Y[] = acc[] * 0.5
})"},
          {"few_columns", R"(compute few_columns {
  input X: f32[300007, 3]
  output Y: f32[3]
  Y[j: 3, k: 300007 reduction]:
    Y[j] sum= X[k, j]
})"},
          {"product", R"(compute product {
  input X: f32[200001]
  input W: f32[200001]
  output Y: f32[1]
  workspace acc: f32[1]
  acc[k: 200001 reduction]:
    acc[0] sum= X[k] * W[k]
  Y[i: 1]:
    Y[i] = max(acc[i], 0.0)
})"},
          {"greatest", R"(compute greatest {
  input X: f32[100001]
  output Y: f32[]
  Y[k: 100001 reduction]:
    Y[] max= X[k]
})"}};
}

// Returns arguments from 1 to 1.25, so that the error of a chain grows with its length.
std::vector<Array> PositiveArguments(const Compute& compute) {
  std::vector<Array> arguments = RandomArguments(compute, 1);
  for (Array& array : arguments)
    for (int64_t i = 0; i < array.size(); ++i)
      array.SetDouble(i, 1 + 0.25 * std::abs(std::sin(static_cast<double>(i))));
  return arguments;
}

std::vector<Sketch> SketchesOnGpu(const Compute& compute) {
  const std::vector<NamedCompute> lowerings = {{"direct", compute}};
  const Target target{.device = *CudaAccelerator("sm_80")};
  return SketchesOf(SketchStage::kPatterns, {lowerings, target, AnyRounding()});
}

class CudaLongSum : public testing::TestWithParam<LongSum> {};

TEST_P(CudaLongSum, IsExactToAFewRoundings) {
  const Compute compute = MustParse(GetParam().text);
  const std::vector<Sketch> sketches = SketchesOnGpu(compute);
  ASSERT_FALSE(sketches.empty());
  const std::vector<Array> arguments = PositiveArguments(compute);
  const auto expected = Interpret(compute, arguments, Precision::kFloat64);
  ASSERT_TRUE(expected);
  for (const Sketch& sketch : sketches) {
    SCOPED_TRACE(sketch.name);
    const Schedule schedule = sketch.Fill(sketch.InitialDecisions());
    const auto loops = RunLoopPipeline(compute, schedule,
                                       {.rounding = AnyRounding(), .verify = VerifyStages::kEach});
    ASSERT_TRUE(loops) << loops.error().message << Print(schedule);
    if (!kEmulates) GTEST_SKIP() << "no emulation";
    const auto result = jit_test::RunEmulated(loops->nest, arguments);
    ASSERT_TRUE(result) << result.error().message;
    for (int64_t i = 0; i < expected->front().size(); ++i) {
      const double value = expected->front().GetDouble(i);
      EXPECT_NEAR(result->front().GetDouble(i), value, 4e-6 * std::abs(value)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudaLongSum, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

TEST(LongChain, IsOfTermsOfOneResult) {
  const auto is_long = [](const std::string& text) {
    return HasLongChain(MustParse(text).statements.front());
  };
  EXPECT_TRUE(is_long(Cases()[0].text));
  EXPECT_FALSE(is_long(R"(compute short {
  input X: f32[5000, 4096]
  output Y: f32[5000]
  Y[i: 5000, k: 4096 reduction]:
    Y[i] sum= X[i, k]
})"));
}

}  // namespace
}  // namespace tunec::test
