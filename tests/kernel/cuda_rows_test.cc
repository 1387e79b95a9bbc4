// Tests of GPU kernels whose blocks compute rows, for example of a softmax. The tests check the
// loops, the results on the emulated GPU, ptxas's output and the initial knobs. The lengths of some
// rows are no multiples of threads or vectors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ir/interpret/interpret.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/cuda_generator.h"
#include "jit/cuda/emulate/emulate.h"
#include "schedule/sketch.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/jit/nest_runner.h"
#include "tests/programs/rows.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/random_decisions.h"

namespace tunec::test {
namespace {

std::string LayerNorm(int64_t rows, int64_t length) {
  return fmt::format(R"(compute layer_norm {{
  input X: f32[{0}, {1}]
  input G: f32[{1}]
  output Y: f32[{0}, {1}]
  workspace s: f32[{0}]
  workspace m: f32[{0}]
  workspace v: f32[{0}]
  workspace r: f32[{0}]
  s[i: {0}, j: {1} reduction]:
    s[i] sum= X[i, j]
  m[i: {0}]:
    m[i] = s[i] / {1}.0
  v[i: {0}, j: {1} reduction]:
    v[i] sum= (X[i, j] - m[i]) * (X[i, j] - m[i])
  r[i: {0}]:
    r[i] = 1.0 / sqrt(v[i] / {1}.0 + 0.00001)
  Y[i: {0}, j: {1}]:
    Y[i, j] = (X[i, j] - m[i]) * r[i] * G[j]
}}
)",
                     rows, length);
}

// Returns the text of a normalisation of the rows of one batch. The sums of rows have a last axis
// of one element.
std::string LayerNormOfOneBatch(int64_t rows, int64_t length) {
  return fmt::format(R"(compute layer_norm {{
  input X: f32[1, {0}, {1}]
  output Y: f32[1, {0}, {1}]
  workspace s: f32[1, {0}, 1]
  workspace m: f32[1, {0}]
  workspace d: f32[1, {0}, {1}]
  workspace v: f32[1, {0}, 1]
  s[i: {0}, j: {1} reduction]:
    s[0, i, 0] sum= X[0, i, j]
  m[i: {0}]:
    m[0, i] = s[0, i, 0] / {1}.0
  d[i: {0}, j: {1}]:
    d[0, i, j] = X[0, i, j] - m[0, i]
  v[i: {0}, j: {1} reduction]:
    v[0, i, 0] sum= d[0, i, j] * d[0, i, j]
  Y[i: {0}, j: {1}]:
    Y[0, i, j] = d[0, i, j] / sqrt(v[0, i, 0] / {1}.0 + 0.00001)
}}
)",
                     rows, length);
}

// Returns a Compute's text for the greatest element of each row and its position, in two batches.
std::string Greatest(int64_t rows, int64_t length) {
  return fmt::format(R"(compute greatest {{
  input X: f32[2, {0}, {1}]
  output V: f32[2, {0}]
  output P: i64[2, {0}] range [0, {2}]
  V[h: 2, i: {0}, j: {1} reduction]:
    (V[h, i], P[h, i]) argmax= (X[h, i, j], index_i64(j))
}}
)",
                     rows, length, length - 1);
}

struct Rows {
  std::string name;
  Compute compute;
};
void PrintTo(const Rows& rows, std::ostream* out) { *out << rows.name; }

std::vector<Rows> Cases() {
  std::vector<Rows> cases;
  for (const auto& [rows, length] : std::vector<std::pair<int64_t, int64_t>>{
           {5, 37}, {3, 64}, {70, 8}, {2, 1000}, {2, 1536}, {1, 4099}, {1, 9000}}) {
    const std::string size = fmt::format("{}x{}", rows, length);
    cases.push_back({"softmax" + size, MustParse(SoftmaxText(rows, length))});
    cases.push_back({"layer_norm" + size, MustParse(LayerNorm(rows, length))});
    cases.push_back({"one_batch" + size, MustParse(LayerNormOfOneBatch(rows, length))});
    cases.push_back({"greatest" + size, MustParse(Greatest(rows, length))});
  }
  return cases;
}

Target Gpu() { return {.device = *CudaAccelerator("sm_80")}; }

// Returns a GPU with one processor, on which a block may have several rows even of few rows.
Target SmallestGpu() {
  Target target = Gpu();
  target.device->processors = 1;
  return target;
}

Sketch RowsOf(const Compute& compute, const Target& target = Gpu()) {
  const std::vector<NamedCompute> lowerings = {{"direct", compute}};
  for (Sketch& sketch : SketchesOf(SketchStage::kPatterns, {lowerings, target, AnyRounding()}))
    if (sketch.name == "cuda_rows") return std::move(sketch);
  ADD_FAILURE() << "no sketch for " << Print(compute);
  return {};
}

void ExpectClose(const Array& actual, const Array& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (int64_t i = 0; i < expected.size(); ++i) {
    const double value = expected.GetDouble(i);
    ASSERT_NEAR(actual.GetDouble(i), value, 2e-5 * std::max(1.0, std::abs(value))) << "at " << i;
  }
}

class CudaRows : public testing::TestWithParam<Rows> {
 protected:
  static LoopNest LoopsOf(const Sketch& sketch, const Decisions& decisions) {
    const auto loops = RunLoopPipeline(GetParam().compute, sketch.Fill(decisions),
                                       {.rounding = AnyRounding(), .verify = VerifyStages::kEach});
    EXPECT_TRUE(loops) << loops.error().message << Print(sketch.Fill(decisions));
    return loops ? loops->nest : LoopNest();
  }

  void Expect(const LoopNest& nest) const {
    const Result<std::vector<Array>> results[] = {
        Interpret(nest, arguments_, Precision::kNative),
        kEmulates ? jit_test::RunEmulated(nest, arguments_)
                  : Interpret(nest, arguments_, Precision::kNative)};
    for (const Result<std::vector<Array>>& result : results) {
      ASSERT_TRUE(result) << result.error().message << Print(nest);
      ASSERT_EQ(result->size(), expected_.size());
      for (size_t k = 0; k < expected_.size(); ++k) ExpectClose((*result)[k], expected_[k]);
    }
  }

 private:
  const std::vector<Array> arguments_ = RandomArguments(GetParam().compute, 1);
  const std::vector<Array> expected_ =
      *Interpret(GetParam().compute, arguments_, Precision::kNative);
};

TEST_P(CudaRows, AreAsInterpreted) {
  const Sketch sketch = RowsOf(GetParam().compute);
  const Sketch dense = RowsOf(GetParam().compute, SmallestGpu());
  ASSERT_FALSE(HasFailure());
  Expect(LoopsOf(sketch, sketch.InitialDecisions()));
  Expect(LoopsOf(dense, dense.InitialDecisions()));
  std::mt19937 random(7);
  for (int i = 0; i < 3 && !HasFailure(); ++i) {
    Expect(LoopsOf(sketch, RandomDecisions(sketch, random)));
  }
}

TEST_P(CudaRows, KeepTheirValuesInRegisters) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  for (const Target& target : {Gpu(), SmallestGpu()}) {
    const Sketch sketch = RowsOf(GetParam().compute, target);
    ASSERT_FALSE(HasFailure());
    const LoopNest nest =
        *MakeCudaGenerator()->MapThreads(LoopsOf(sketch, sketch.InitialDecisions()));
    const auto image = MakeCudaGenerator()->Compile(nest, target);
    ASSERT_TRUE(image) << image.error().message;
    for (const PhaseLaunch& launch : image->phases) {
      EXPECT_EQ(launch.spilled_bytes, 0);
      EXPECT_EQ(launch.local_bytes, 0) << Print(nest);
    }
  }
}

int64_t KnobValue(const Sketch& sketch, std::string_view name) {
  const auto knob = std::ranges::find(sketch.knobs, name, &Knob::name);
  if (knob == sketch.knobs.end()) return 0;
  return knob->choices[static_cast<size_t>(knob->initial)];
}

// Checks that blocks have 128 threads with work, or more for very long rows.
TEST(CudaRowChoice, FitsTheLengthOfRows) {
  struct ExpectedKnobs {
    int64_t length, threads, vector, beside;
  };
  for (const ExpectedKnobs& expected :
       {ExpectedKnobs{8, 2, 4, 64}, ExpectedKnobs{37, 32, 1, 4}, ExpectedKnobs{64, 16, 4, 8},
        ExpectedKnobs{768, 32, 4, 4}, ExpectedKnobs{4096, 128, 4, 1},
        ExpectedKnobs{100000, 1024, 4, 1}}) {
    const Sketch sketch = RowsOf(MustParse(SoftmaxText(1 << 14, expected.length)));
    EXPECT_EQ(KnobValue(sketch, "threads"), expected.threads) << expected.length;
    EXPECT_EQ(KnobValue(sketch, "vector"), expected.vector) << expected.length;
    EXPECT_EQ(KnobValue(sketch, "beside"), expected.beside) << expected.length;
  }
}

// A vector of 16 bytes, the longest access, has eight bfloat16 numbers.
TEST(CudaRowChoice, FitsTheTypeOfRows) {
  const Sketch sketch = RowsOf(MustParse(R"(compute greatest {
  input X: bf16[64, 768]
  output Y: bf16[64]
  Y[i: 64, j: 768 reduction]:
    Y[i] max= X[i, j]
})"));
  EXPECT_EQ(KnobValue(sketch, "vector"), 8);
}

// The choices of each knob are sorted. If there are many short rows, a block has several of them in
// turn.
TEST(CudaRowChoice, IsAmongItsKnobs) {
  const Sketch sketch = RowsOf(MustParse(SoftmaxText(1 << 22, 2)));
  for (const Knob& knob : sketch.knobs)
    EXPECT_TRUE(std::ranges::is_sorted(knob.choices)) << knob.name;
  EXPECT_GT(KnobValue(sketch, "rows"), 1);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudaRows, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tunec::test
