// Tests of the code for operators on rows, and for sums and products, against the interpreter. The
// innermost extents are odd, so no vector divides them. Sketches run with initial and random
// decisions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "jit/cpu/detect_cpu.h"
#include "kernel/run_once.h"
#include "schedule/sketches/sketches.h"
#include "tests/programs/operators.h"
#include "tests/programs/products.h"
#include "tests/programs/replaced.h"
#include "tests/programs/rows.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/loops_of.h"
#include "tests/schedule/random_decisions.h"

namespace tunec {
namespace {

// The softmax of a matrix that does not fit into the caches of SmallCaches.
const std::string kLongRows = test::SoftmaxText(67, 531);

// A normalisation of short rows. Initially four rows are computed together, and three at the end.
constexpr std::string_view kShortRows = R"(compute short_rows {
  input X: f32[3, 67, 29]
  output Y: f32[3, 67, 29]
  workspace m: f32[3, 67]
  workspace v: f32[3, 67]
  m[b: 3, i: 67, j: 29 reduction]:
    m[b, i] sum= X[b, i, j]
  v[b: 3, i: 67, j: 29 reduction]:
    v[b, i] sum= (X[b, i, j] - m[b, i]) * (X[b, i, j] - m[b, i])
  Y[b: 3, i: 67, j: 29]:
    Y[b, i, j] = (X[b, i, j] - m[b, i]) / sqrt(v[b, i] + 1.0)
}
)";

constexpr std::string_view kSumOfColumns = R"(compute sum_of_columns {
  input X: f32[3, 19, 1091]
  output Y: f32[3, 1091]
  workspace acc: f32[3, 1091]
  acc[b: 3, j: 1091, k: 19 reduction]:
    acc[b, j] sum= X[b, k, j]
  Y[b: 3, j: 1091]:
    Y[b, j] = acc[b, j] * 0.5
}
)";

const std::string kOneRow =
    test::ProductText({.rows = 1, .columns = 1091, .length = 37, .value = "acc[i, j] + 1.0"});

// A product with one row, computed in pieces, of which the last is shorter.
const std::string kLongRow =
    test::ProductText({.rows = 1, .columns = 1091, .length = 1031, .value = ""});

constexpr std::string_view kSmallBatches = R"(compute small_batches {
  input A: f32[2, 83, 5, 7]
  input B: f32[2, 83, 7, 9]
  output C: f32[2, 83, 5, 9]
  workspace acc: f32[2, 83, 5, 9]
  acc[a: 2, b: 83, i: 5, j: 9, k: 7 reduction]:
    acc[a, b, i, j] sum= A[a, b, i, k] * B[a, b, k, j]
  C[a: 2, b: 83, i: 5, j: 9]:
    C[a, b, i, j] = acc[a, b, i, j] * 0.5
}
)";

const std::string kLongSum = test::ProductText({.rows = 5, .columns = 7, .length = 11003});

struct Case {
  const char* name;
  std::string_view text;
  std::string_view sketch;  // kind of the first sketch
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

const Case kCases[] = {
    {"long_rows", kLongRows, "rows"},
    {"short_rows", kShortRows, "rows"},
    {"middle_softmax", test::kMiddleSoftmax, "abreast"},
    {"middle_argmax", test::kMiddleArgMax, "abreast"},
    {"outer_norm", test::kOuterNorm, "columns"},  // too few columns for all threads
    {"sum_of_columns", kSumOfColumns, "tile"},
    {"one_row", kOneRow, "tile"},
    {"long_row", kLongRow, "sweep"},
    {"small_batches", kSmallBatches, "tile"},
    {"long_sum", kLongSum, "split_sum"},
    {"gathered_rows", test::kGather, "pointwise"},
};

// Returns the target with small caches, into which arrays of some cases do not fit.
Target SmallCaches(Target target) {
  target.host.l2_bytes = 32 << 10;
  target.host.l3_bytes = 64 << 10;
  return target;
}

class RowsInCode : public testing::TestWithParam<Case> {
 protected:
  std::string Disagreement(const Schedule& schedule) {
    const auto kernel = test::LoopsOf(checker_.compute(), schedule, ReductionOrder::kAny);
    if (!kernel) return kernel.error().message;
    return checker_.Disagreement(*kernel,
                                 [&](const LoopNest& nest, const std::vector<Array>& arguments) {
                                   return CompileAndRun(nest, arguments, DetectCpu(2), pool_);
                                 });
  }
  std::vector<Sketch> SketchesOn(const Target& target) const {
    return SketchesFor({{{"direct", checker_.compute()}}, target, ReductionOrder::kAny});
  }

  test::ScheduleChecker checker_{test::MustParse(GetParam().text)};
  ThreadPool pool_{2};
};

TEST_P(RowsInCode, GiveEqualResults) {
  constexpr int kOthers = 6;
  std::mt19937 random(11);
  EXPECT_EQ(SketchesOn(*ParseCpu("x86-64-v4", 1))[0].Kind(), GetParam().sketch);
  for (const Target& target : {DetectCpu(1), SmallCaches(DetectCpu(1))}) {
    for (const Sketch& sketch : SketchesOn(target)) {
      EXPECT_EQ(Disagreement(sketch.Fill(sketch.InitialDecisions())), "") << sketch.name;
      for (int i = 0; i < kOthers && sketch.SpaceSize() > 1; ++i) {
        const Schedule schedule = sketch.Fill(test::RandomDecisions(sketch, random));
        EXPECT_EQ(Disagreement(schedule), "") << sketch.name << "\n" << Print(schedule);
      }
    }
  }
}

TEST(RowsTogether, AreMoreTheShorterTheyAre) {
  const auto together = [](int64_t length) -> int64_t {
    const std::string text = test::Replaced(std::string(kShortRows), "29", std::to_string(length));
    const auto sketches =
        SketchesFor({{{"direct", test::MustParse(text)}}, DetectCpu(2), ReductionOrder::kAny});
    for (const Knob& knob : sketches[0].knobs)
      if (knob.name == "together") return knob.choices[knob.initial];
    return 0;
  };
  EXPECT_EQ(together(31), 4);
  EXPECT_EQ(together(500), 2);
  EXPECT_EQ(together(1500), 1);
}

// A sweep reads the operand in long rows, which is fast for slow memory, but stores the sums. A
// tile has the sums in registers.
TEST(Sweep, ComesFirstWhereNoCacheHoldsTheOperand) {
  for (const std::string_view text : test::ProgramTexts{kOneRow, kSumOfColumns}) {
    const std::vector<NamedCompute> lowerings = {{"direct", test::MustParse(text)}};
    const Target near = DetectCpu(1);
    const Target far = SmallCaches(near);
    EXPECT_EQ(SketchesFor({lowerings, near, ReductionOrder::kAny})[0].Kind(), "tile");
    EXPECT_EQ(SketchesFor({lowerings, far, ReductionOrder::kAny})[0].Kind(), "sweep");
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RowsInCode, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tunec
