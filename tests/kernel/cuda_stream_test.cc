// Tests of the sketch cuda_stream, which computes attention in one phase of a GPU kernel. The
// results must agree with the interpreter's, also if the last block of rows or keys is partial. For
// large kernels, the tests check the predicted times and the spills that ptxas reports.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "kernel/loop_pipeline.h"
#include "schedule/sketch.h"
#include "tests/jit/cuda/need_ptxas.h"
#include "tests/kernel/device_harness.h"
#include "tests/programs/products.h"
#include "tests/schedule/harness.h"
#include "tests/schedule/random_decisions.h"

namespace tunec::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

enum class Mask { kNone, kCausal, kGiven };
enum class Operands { kApart, kOneTensor };

struct Attention {
  std::string name;
  int heads = 2, queries = 32, keys = 64, depth = 16, width = 16;
  int rows = 16, chunk = 32;  // rows per block, keys per step
  Mask mask = Mask::kNone;
  std::string type = "f32";
  Operands operands = Operands::kApart;

  int Blocks() const { return (queries + rows - 1) / rows; }
  int Chunks() const { return (keys + chunk - 1) / chunk; }
};

void PrintTo(const Attention& attention, std::ostream* out) { *out << attention.name; }

std::string Replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& by) {
  for (const auto& [name, value] : by) {
    size_t at = text.find(name);
    for (; at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  }
  return text;
}

// Returns a text like that of graph/lower/attention.cc. With one chunk there is no carried state.
std::string TextOf(const Attention& a) {
  const bool several = a.Chunks() > 1;
  const bool one_tensor = a.operands == Operands::kOneTensor;
  std::string inputs = one_tensor ? "  input A: TYPE[KEYS, ALL]\n"
                                  : "  input Q: TYPE[HEADS, QUERIES, DEPTH]\n"
                                    "  input K: TYPE[HEADS, KEYS, DEPTH]\n"
                                    "  input V: TYPE[HEADS, KEYS, WIDTH]\n";
  if (a.mask == Mask::kGiven) inputs += "  input M: f32[QUERIES, KEYS]\n";
  const std::string text =
      "compute attention {\n" + inputs + R"(  output Y: TYPE[HEADS, QUERIES, WIDTH]
  workspace q: f32[HEADS, BLOCKS, ROWS, DEPTH]
  workspace s: f32[HEADS, BLOCKS, CHUNKS, CHUNK, ROWS]
  workspace x: f32[HEADS, BLOCKS, CHUNKS, CHUNK, ROWS]
  workspace top: f32[HEADS, BLOCKS, CHUNKS, ROWS]
CARRIED_MAXIMUM  workspace p: f32[HEADS, BLOCKS, CHUNKS, CHUNK, ROWS]
  workspace sum: f32[HEADS, BLOCKS, CHUNKS, ROWS]
CARRIED_SUM  workspace z: f32[HEADS, BLOCKS, ROWS]
  workspace w: f32[HEADS, BLOCKS, CHUNKS, ROWS, WIDTH]
CARRIED_OUTPUT  q[OUTER, r: ROWS, k: DEPTH]:
    q[h, b, r, k] = f32(QUERY) * 0.5
  s[OUTER, STEP, t: CHUNK, r: ROWS, k: DEPTH reduction]ENDS:
    s[h, b, c, t, r] sum= q[h, b, r, k] * f32(KEY)
  x[OUTER, STEP, t: CHUNK, r: ROWS]ENDS:
    x[h, b, c, t, r] = MASKED
  top[OUTER, STEP, r: ROWS, t: CHUNK reduction]ENDS:
    top[h, b, c, r] "max"= x[h, b, c, t, r]
MAKE_MAXIMUM  p[OUTER, STEP, t: CHUNK, r: ROWS]ENDS:
    p[h, b, c, t, r] = exp(x[h, b, c, t, r] - select(lt(-inf, GREATEST[h, b, c, r]), GREATEST[h, b, c, r], 0.0))
MAKE_DECAY  sum[OUTER, STEP, r: ROWS, t: CHUNK reduction]ENDS:
    sum[h, b, c, r] sum= p[h, b, c, t, r]
MAKE_SUM  z[OUTER, r: ROWS]:
    z[h, b, r] = 1.0 / TOTAL
  w[OUTER, STEP, r: ROWS, e: WIDTH, t: CHUNK reduction]ENDS:
    w[h, b, c, r, e] sum= p[h, b, c, t, r] * f32(VALUE)
MAKE_OUTPUT  Y[OUTER, r: ROWS, e: WIDTH]LAST_ROW:
    Y[h, ROWS*b + r, e] = TYPE(OUTPUT * z[h, b, r])
})";
  const std::string skips = a.mask == Mask::kCausal
                                ? fmt::format("{}*b - {}*c + {} >= 0", a.rows, a.chunk, a.rows - 1)
                                : "";
  const std::string end =
      a.keys % a.chunk != 0 ? fmt::format("{} - {}*c - t >= 0", a.keys - 1, a.chunk) : "";
  const std::string ends = end.empty() && skips.empty() ? ""
                           : end.empty()                ? " where " + skips
                           : skips.empty()              ? " where " + end
                                                        : " where " + end + ", " + skips;
  const std::string row_end = fmt::format("{} - {}*b - r >= 0", a.queries - 1, a.rows);
  const bool partial = a.queries % a.rows != 0;
  const std::string query = one_tensor ? "A[ROWS*b + r, DEPTH*h + k]" : "Q[h, ROWS*b + r, k]";
  const std::string masks[] = {
      "s[h, b, c, t, r]", "select(holds(ROWS*b - CHUNK*c - t + r >= 0), s[h, b, c, t, r], -inf)",
      partial ? "s[h, b, c, t, r] + (M[ROWS*b + r, CHUNK*c + t] where (" + row_end + ") else 0.0)"
              : "s[h, b, c, t, r] + M[ROWS*b + r, CHUNK*c + t]"};
  const std::string at_step = skips.empty() ? "" : " where " + skips;
  const auto when_several = [&](std::string made) { return several ? std::move(made) : ""; };
  return Replaced(
      text, {{"CARRIED_MAXIMUM", when_several("  workspace m: f32[HEADS, BLOCKS, CHUNKS, ROWS]\n"
                                              "  workspace a: f32[HEADS, BLOCKS, CHUNKS, ROWS]\n")},
             {"CARRIED_SUM", when_several("  workspace l: f32[HEADS, BLOCKS, ROWS]\n")},
             {"CARRIED_OUTPUT", when_several("  workspace o: f32[HEADS, BLOCKS, ROWS, WIDTH]\n")},
             {"MAKE_MAXIMUM", when_several(R"(  m[OUTER, STEP, r: ROWS]AT_STEP:
    m[h, b, c, r] = max(top[h, b, c, r], (m[h, b, c - 1, r] where (c - 1 >= 0) else -inf))
)")},
             {"MAKE_DECAY", when_several(R"(  a[OUTER, STEP, r: ROWS]AT_STEP:
    @0 = m[h, b, c, r]
    @1 = m[h, b, c - 1, r] where (c - 1 >= 0) else -inf
    a[h, b, c, r] = exp(@1 - select(lt(-inf, @0), @0, 0.0))
)")},
             {"MAKE_SUM", when_several(R"(  l[OUTER, STEP, r: ROWS]AT_STEP:
    @0 = sum[h, b, c, r]
    @1 = a[h, b, c, r]
    @2 = l[h, b, r] where (c - 1 >= 0) else 0.0
    l[h, b, r] = @2 * @1 + @0
)")},
             {"MAKE_OUTPUT", when_several(R"(  o[OUTER, STEP, r: ROWS, e: WIDTH]AT_STEP:
    @0 = w[h, b, c, r, e]
    @1 = a[h, b, c, r]
    @2 = o[h, b, r, e] where (c - 1 >= 0) else 0.0
    o[h, b, r, e] = @2 * @1 + @0
)")},
             {"GREATEST", several ? "m" : "top"},
             {"TOTAL", several ? "l[h, b, r]" : "sum[h, b, 0, r]"},
             {"OUTPUT", several ? "o[h, b, r, e]" : "w[h, b, 0, r, e]"},
             {"OUTER", "h: HEADS, b: BLOCKS"},
             {"STEP, ", several ? "c: CHUNKS sequential, " : ""},
             {"LAST_ROW", partial ? " where " + row_end : ""},
             {"AT_STEP", at_step},
             {"ENDS", ends},
             {"MASKED", masks[static_cast<size_t>(a.mask)]},
             {"QUERY", partial ? "(" + query + " where (" + row_end + ") else 0.0)" : query},
             {"KEY)", one_tensor ? "A[CHUNK*c + t, DEPTH*h + k + ONCE])" : "K[h, CHUNK*c + t, k])"},
             {"VALUE", one_tensor ? "A[CHUNK*c + t, WIDTH*h + e + TWICE]" : "V[h, CHUNK*c + t, e]"},
             {"b, c", several ? "b, c" : "b, 0"},
             {"CHUNK*c", several ? "CHUNK*c" : "0"},
             {"HEADS", std::to_string(a.heads)},
             {"QUERIES", std::to_string(a.queries)},
             {"KEYS", std::to_string(a.keys)},
             {"DEPTH", std::to_string(a.depth)},
             {"WIDTH", std::to_string(a.width)},
             {"ONCE", std::to_string(a.heads * a.depth)},
             {"TWICE", std::to_string(2 * a.heads * a.depth)},
             {"ALL", std::to_string(a.heads * (2 * a.depth + a.width))},
             {"BLOCKS", std::to_string(a.Blocks())},
             {"CHUNKS", std::to_string(a.Chunks())},
             {"CHUNK", std::to_string(a.chunk)},
             {"ROWS", std::to_string(a.rows)},
             {"f32(", a.type == "f32" ? "(" : "f32("},
             {"TYPE(", a.type == "f32" ? "(" : a.type + "("},
             {"TYPE", a.type}});
}

std::vector<Attention> SmallOnes() {
  return {{.name = "even"},
          {.name = "one_chunk", .keys = 32},
          {.name = "odd", .queries = 37, .keys = 53, .depth = 20, .width = 12},
          {.name = "odder",
           .heads = 3,
           .queries = 19,
           .keys = 37,
           .depth = 5,
           .width = 7,
           .rows = 8,
           .chunk = 16},
          {.name = "causal", .queries = 64, .mask = Mask::kCausal},
          {.name = "odd_causal", .queries = 41, .keys = 41, .mask = Mask::kCausal},
          {.name = "masked", .mask = Mask::kGiven},
          {.name = "odd_masked", .queries = 21, .keys = 45, .mask = Mask::kGiven},
          {.name = "bf16", .type = "bf16"},
          {.name = "odd_bf16", .queries = 19, .keys = 45, .depth = 24, .type = "bf16"},
          {.name = "one_tensor", .queries = 64, .operands = Operands::kOneTensor}};
}

// Returns attention with heads of 64 elements, as in models.
Attention Large(int rows, int chunk, const std::string& type = "f32") {
  return {.name = fmt::format("{}_{}_{}", rows, chunk, type),
          .heads = 12,
          .queries = 512,
          .keys = 512,
          .depth = 64,
          .width = 64,
          .rows = rows,
          .chunk = chunk,
          .type = type};
}

std::vector<Sketch> SketchesOf(const Attention& attention, const Target& target) {
  return SketchesFor({{{"direct", MustParse(TextOf(attention))}}, target, AnyOrder()});
}

std::optional<Sketch> StreamOf(const Attention& attention, const Target& target) {
  std::vector<Sketch> sketches = SketchesOf(attention, target);
  const auto found = std::ranges::find(sketches, "cuda_stream", &Sketch::name);
  return found == sketches.end() ? std::nullopt : std::optional(std::move(*found));
}

class SmallStream : public testing::TestWithParam<Attention> {
 protected:
  void Expect(const ScheduleChecker& checker, const Schedule& schedule) const {
    ASSERT_EQ(Print(*ParseSchedule(Print(schedule), "replay")), Print(schedule));
    const auto loops = RunLoopPipeline(checker.compute(), schedule,
                                       {.rounding = AnyOrder(), .verify = VerifyStages::kEach});
    ASSERT_TRUE(loops) << loops.error().Format() << "\n" << Print(schedule);
    EXPECT_EQ(loops->nest.phases.size(), 1U);
    EXPECT_EQ(checker.Disagreement(*loops), "") << Print(schedule);
    if (!kEmulates) return;  // sanitizers do not support the emulation's stacks
    EXPECT_EQ(checker.Disagreement(*loops, CheckedEmulation(Gpu("sm_90a"))), "") << Print(schedule);
  }
};

TEST_P(SmallStream, IsComputedRight) {
  const ScheduleChecker checker(MustParse(TextOf(GetParam())));
  const std::optional<Sketch> sketch = StreamOf(GetParam(), Gpu("sm_90a"));
  ASSERT_TRUE(sketch) << TextOf(GetParam());
  Expect(checker, Analytic(*sketch));
  EXPECT_THAT(Print(Analytic(*sketch)), HasSubstr("pipeline "));
  std::mt19937 random(11);
  constexpr int kDecisions = 4;
  for (int i = 0; i < kDecisions && !HasFailure(); ++i) {
    Expect(checker, sketch->Fill(RandomDecisions(*sketch, random)));
  }
}

INSTANTIATE_TEST_SUITE_P(CudaStream, SmallStream, testing::ValuesIn(SmallOnes()),
                         [](const auto& info) { return info.param.name; });

// Two operands in one tensor have separate copies.
TEST(CudaStream, CopiesOneTensorTwice) {
  const auto sketch =
      StreamOf({.name = "", .queries = 64, .operands = Operands::kOneTensor}, Gpu("sm_90a"));
  ASSERT_TRUE(sketch);
  EXPECT_THAT(Print(Analytic(*sketch)), HasSubstr("stage A.copy2 shared"));
}

// The sketch is ranked first, and the code spills at most 8 bytes per thread.
TEST(CudaStream, IsPredictedFasterThanPhases) {
  if (const std::string why = test::WhyNoPtxas(); !why.empty()) GTEST_SKIP() << why;
  for (const std::string arch : {"sm_80", "sm_90a"}) {
    const Target target = Gpu(arch);
    const Attention direct = Large(512, 512);
    const double phases = PredictedSeconds(
        MustParse(TextOf(direct)), Analytic(SketchesOf(direct, target)[0]), target, AnyOrder());
    for (const Attention& large :
         {Large(64, 128), Large(48, 128), Large(48, 256), Large(64, 128, "bf16")}) {
      const Sketch sketch = SketchesOf(large, target)[0];
      ASSERT_EQ(sketch.name, "cuda_stream") << arch << ", " << large.name;
      EXPECT_LT(PredictedSeconds(MustParse(TextOf(large)), Analytic(sketch), target, AnyOrder()),
                phases)
          << arch << ", " << large.name;
    }
  }
}

// Attention whose 512 rows are one block, and a plain product, do not get this sketch.
TEST(CudaStream, LeavesOthersToPhases) {
  EXPECT_FALSE(StreamOf(Large(512, 512), Gpu("sm_90a")));
  const auto sketches =
      SketchesFor({{{"direct", MustParse(DenseLayerText(64, 64, 64))}}, Gpu("sm_90a"), AnyOrder()});
  for (const Sketch& sketch : sketches) EXPECT_THAT(sketch.name, Not(HasSubstr("cuda_stream")));
}

}  // namespace
}  // namespace tunec::test
