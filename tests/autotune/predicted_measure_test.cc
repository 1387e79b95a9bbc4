// Tests the measurement of candidates for a GPU that is not present. The outputs of the emulation
// are checked, and the times are predicted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "autotune/measure/measure.h"
#include "ir/nest/rewrite_loop_nest.h"
#include "kernel/compiled_kernel.h"
#include "kernel/loop_pipeline.h"
#include "kernel/predict/predict_time.h"
#include "support/check.h"
#include "tests/autotune/emulated_gpu.h"
#include "tests/autotune/fault.h"
#include "tests/autotune/workloads.h"
#include "tests/programs/must_parse.h"
#include "tests/programs/products.h"

namespace tunec {
namespace {

using testing::EmulatedGpu;
using testing::Fault;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using testing::MatmulRelu;
using ::testing::Not;
using testing::WithFault;

// Returns a Compute with two statements. The first doubles the elements of A. The second computes
// the sums of the rows.
Compute TwoPhases() {
  return test::MustParse(R"(
    compute two_phases {
      input A: f32[48, 20]
      output C: f32[48]
      workspace t: f32[48, 20]
      double[i: 48, j: 20]:
        t[i, j] = A[i, j] + A[i, j]
      sum[i: 48, j: 20 reduction]:
        C[i] sum= t[i, j]
    })");
}

Compute Product(int64_t n) {
  return test::MustParse(test::ProductText(
      {.rows = n, .columns = n, .length = n, .right = {.weight = "constant"}, .value = ""}));
}

std::string BlocksOf(int threads) {
  return fmt::format(R"(lower direct
cache_write acc
reorder acc.i acc.j
compute_at acc.init acc.j
compute_at acc.store acc.j
fuse acc.i acc.j as acc.flat1
split acc.flat1 {}
stage acc.cache register acc.flat1.1
bind acc.flat1.0 grid.x
bind acc.flat1.1 block.x
)",
                     threads);
}

class PredictedMeasureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = testing::WhyNoPredictions(); !why.empty()) GTEST_SKIP() << why;
  }
  Workbench MakeBench(const Compute& compute, CandidateHook hook = {}) {
    Workload workload = testing::WorkloadOf(compute);
    workload.target = EmulatedGpu();
    auto bench = Workbench::Make(workload, pool_, std::move(hook));
    TUNEC_CHECK(bench.has_value(), "{}", bench.error().Format());
    return *std::move(bench);
  }
  // Returns the analytic schedule of the sketch with this name, or of the first sketch if none has
  // the name.
  static std::string Analytic(const Compute& compute, std::string_view name = "") {
    const std::vector<NamedCompute> lowerings = {{"direct", compute}};
    const Target target = EmulatedGpu();
    const std::vector<Sketch> sketches =
        SketchesFor({.lowerings = lowerings, .target = target, .rounding = ReductionOrder::kAny});
    const auto named = std::ranges::find(sketches, name, &Sketch::name);
    const Sketch& sketch = named == sketches.end() ? sketches.front() : *named;
    return Print(sketch.Fill(sketch.InitialDecisions()));
  }
  static Measurement Measured(Workbench& bench, const std::string& schedule) {
    return bench.Measure(bench.Compile({schedule}), std::nullopt);
  }

  ThreadPool pool_{2};
};

TEST_F(PredictedMeasureTest, TimesArePredictedOfTheGpusCode) {
  Workbench bench = MakeBench(MatmulRelu());
  const Measurement result = Measured(bench, Analytic(MatmulRelu()));
  ASSERT_EQ(result.status, TrialStatus::kOk) << result.message;
  ASSERT_EQ(result.samples.size(), 1u);
  EXPECT_LE(*result.accuracy_error, 1e-6);
  EXPECT_THAT(result.note,
              MatchesRegex("code\\.registers=[1-9][0-9]* code\\.spilled=0 code\\.local=[0-9]+"));

  // The stored kernel is code for the emulation. The prediction from it equals the sample.
  ASSERT_TRUE(result.artifact);
  const auto kernel = FromArtifact(*result.artifact);
  ASSERT_TRUE(kernel) << kernel.error().Format();
  EXPECT_EQ(kernel->image.format, kEmulatedFormat);
  const auto phases = PredictPhases(kernel->work, kernel->image, *EmulatedGpu().device);
  ASSERT_TRUE(phases) << phases.error().Format();
  EXPECT_DOUBLE_EQ(*PredictSeconds(*phases), result.samples[0]);

  EXPECT_EQ(Measured(bench, Analytic(MatmulRelu())).samples, result.samples);
}

TEST_F(PredictedMeasureTest, AWrongAnswerHasNoTime) {
  Workbench bench = MakeBench(MatmulRelu(), testing::PlantedFaults());
  for (const Fault fault : {Fault::kReverseIndex, Fault::kDropTerm, Fault::kOverrun}) {
    const Measurement result = Measured(bench, WithFault(Analytic(MatmulRelu(), "blocks"), fault));
    EXPECT_EQ(result.status, TrialStatus::kWrongResult) << testing::Name(fault);
    EXPECT_THAT(result.samples, IsEmpty());  // the emulation's time is not a time of the GPU
    EXPECT_FALSE(result.artifact);
  }
}

TEST_F(PredictedMeasureTest, SmallKernelsAreCheckedAsAWhole) {
  Workbench bench = MakeBench(TwoPhases());
  const Measurement result = Measured(bench, Analytic(TwoPhases()));
  ASSERT_EQ(result.status, TrialStatus::kOk) << result.message;
  EXPECT_THAT(result.note, Not(HasSubstr("checked.blocks")));
}

// Injects a fault into the last block of the grid. That block reads A with a row index that is too
// small by one. All other blocks are correct.
void PlantInTheLastBlock(LoopPipelineOptions& options, std::string_view) {
  options.plant = [](const StageRecord& record, const MutableStageProduct& product) {
    if (record.stage != "emit" || record.name != "product") return;
    LoopNest& nest = *std::get<LoopNest*>(product);
    std::optional<std::pair<VarId, int64_t>> blocks;
    ForEach<Loop>(nest, [&](const Loop& loop) {
      if (loop.kind == LoopKind::kGridX) blocks = {loop.var, loop.upper[0].constant()};
    });
    TUNEC_CHECK(blocks.has_value(), "no blocks");
    const Tensors tensors = nest.tensors;
    nest = Rewrite(std::move(nest), [&](Store store) {
      for (Read& read : store.reads) {
        if (tensors[read.tensor].name != "A") continue;
        read.index[0] -= IndexExpr::FloorDiv(IndexExpr::Var(blocks->first), blocks->second - 1);
      }
      return store;
    });
  };
}

TEST_F(PredictedMeasureTest, LargeKernelsAreCheckedBySomeBlocks) {
  const Compute product = Product(512);
  Workbench bench = MakeBench(product);
  const Measurement result = Measured(bench, BlocksOf(256));
  ASSERT_EQ(result.status, TrialStatus::kOk) << result.message;
  EXPECT_THAT(result.note, MatchesRegex(".* checked\\.blocks=[1-9][0-9]*/1024"));

  Workbench faulty = MakeBench(product, PlantInTheLastBlock);
  const Measurement wrong = Measured(faulty, BlocksOf(256));
  EXPECT_EQ(wrong.status, TrialStatus::kWrongResult);
  EXPECT_THAT(wrong.message, HasSubstr("of C, expected at most"));
}

TEST_F(PredictedMeasureTest, WhatDoesNotFitIsNotCompiled) {
  const Compute product = Product(300);
  bool emitted = false;
  Workbench bench = MakeBench(product, [&](LoopPipelineOptions& options, std::string_view) {
    options.plant = [&](const StageRecord& record, const MutableStageProduct&) {
      emitted |= record.stage == "emit";
    };
  });
  // Each thread computes all 300 sums of a row and holds them in registers.
  const Measurement wide = Measured(bench, R"(lower direct
cache_write acc
compute_at acc.init acc.i
compute_at acc.store acc.i
stage acc.cache register acc.i
bind acc.i grid.x
)");
  EXPECT_EQ(wide.status, TrialStatus::kCompileError);
  EXPECT_EQ(wide.message,
            "phase acc.store has 300 registers a thread at least, sm_90a has at most 255");
  EXPECT_EQ(Measured(bench, testing::kIllegalSchedule).status, TrialStatus::kIllegal);
  EXPECT_FALSE(emitted);
}

}  // namespace
}  // namespace tunec
