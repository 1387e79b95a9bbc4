// Tests of constant masks of attention. Patterns of many sizes, offsets and spellings are compared
// with an evaluation by the definition, before and after the passes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/passes/pipeline.h"
#include "graph/reference.h"
#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kDepth = 4, kWidth = 3;

// Score [i, j] is visible if i and j are in one block and first <= j - i <= last.
struct Pattern {
  int64_t queries = 16, keys = 16;
  int64_t first = -1000, last = 1000;
  int64_t block = 1000;

  bool Sees(int64_t i, int64_t j) const {
    return first <= j - i && j - i <= last && i / block == j / block;
  }
};

struct Spelling {
  bool node = false;      // an attention node with a mask; else products and a softmax
  bool selects = false;   // a bool mask selects scores
  bool negated = false;   // the bool mask is true for hidden scores
  bool by_heads = false;  // the mask is repeated for each head
  bool bounded = false;   // the scores are bounded for all inputs
  double hidden = -kInfinity;
  std::string empty_rows = "nan";
};

struct Case {
  Pattern pattern;
  Spelling spelling;
  int64_t heads = 2;
  // A score for which the mask is the opposite.
  int64_t flipped_row = -1, flipped_column = -1;

  bool Sees(int64_t i, int64_t j) const {
    return pattern.Sees(i, j) != (i == flipped_row && j == flipped_column);
  }
};

Array MaskOf(const Case& c) {
  const auto& [queries, keys, first, last, block] = c.pattern;
  const int64_t heads = c.spelling.by_heads ? c.heads : 1;
  Array mask(c.spelling.selects ? DataType::kBool : DataType::kF32, {heads, queries, keys});
  for (int64_t k = 0; k < mask.size(); ++k) {
    const bool visible = c.Sees(k / keys % queries, k % keys);
    const double number = visible ? 0 : c.spelling.hidden;
    mask.SetDouble(k, c.spelling.selects ? (visible != c.spelling.negated ? 1 : 0) : number);
  }
  return mask;
}

Graph GraphOf(const Case& c) {
  SampleGraph g("masked");
  ValueId q = g.Input({c.heads, c.pattern.queries, kDepth});
  ValueId k = g.Input({c.heads, c.pattern.keys, kDepth});
  const ValueId v = g.Input({c.heads, c.pattern.keys, kWidth});
  if (c.spelling.bounded) {
    q = g(Op::kTanh, {q});
    k = g(Op::kTanh, {k});
  }
  const ValueId mask = g.Constant(MaskOf(c));
  const ValueId hidden = g.Scalar(c.spelling.hidden);
  if (c.spelling.node) {
    const ValueId visible = c.spelling.negated ? g(Op::kNot, {mask}) : mask;
    return g.Build({g(Op::kAttention, {q, k, v, visible},
                      {{"scale", 0.5},
                       {"hidden", c.spelling.selects ? c.spelling.hidden : -kInfinity},
                       {"empty_rows", c.spelling.empty_rows}})});
  }
  ValueId s = g(Op::kMatmul, {q, k}, {{"transpose_b", int64_t{1}}});
  s = g(Op::kMul, {s, g.Scalar(0.5)});
  if (!c.spelling.selects) {
    s = g(Op::kAdd, {s, mask});
  } else {
    s = c.spelling.negated ? g(Op::kWhere, {mask, hidden, s}) : g(Op::kWhere, {mask, s, hidden});
  }
  return g.Build({g(Op::kMatmul, {g(Op::kSoftmax, {s}), v})});
}

// Returns the attention in float64, by the definition.
std::vector<double> Evaluate(const Case& c, const std::vector<Array>& inputs) {
  const auto element = [&](size_t operand, int64_t k) {
    const double x = inputs[operand].GetDouble(k);
    return c.spelling.bounded && operand < 2 ? std::tanh(x) : x;
  };
  const auto& [queries, keys, first, last, block] = c.pattern;
  std::vector<double> result;
  for (int64_t row = 0; row < c.heads * queries; ++row) {
    const int64_t head = row / queries, i = row % queries;
    std::vector<double> scores;
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t d = 0; d < kDepth; ++d)
        score += element(0, row * kDepth + d) * element(1, (head * keys + j) * kDepth + d) * 0.5;
      const double masked = c.spelling.selects ? c.spelling.hidden : score + c.spelling.hidden;
      scores.push_back(c.Sees(i, j) ? score : masked);
    }
    const double largest = *std::ranges::max_element(scores);
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - largest);
    for (int64_t e = 0; e < kWidth; ++e) {
      double y = 0;
      for (int64_t j = 0; j < keys; ++j)
        y += scores[j] / sum * element(2, (head * keys + j) * kWidth + e);
      const bool zero = largest == -kInfinity && c.spelling.empty_rows == "zero";
      result.push_back(zero ? 0 : y);
    }
  }
  return result;
}

// Sums of scores and finite numbers are rounded to float32 in one graph, and not in the other one.
void ExpectClose(const Array& actual, const std::vector<double>& expected, const Graph& graph) {
  ASSERT_EQ(actual.size(), std::ssize(expected));
  for (int64_t k = 0; k < actual.size(); ++k) {
    const double value = actual.GetDouble(k);
    if (std::isnan(expected[k]) && std::isnan(value)) continue;
    ASSERT_NEAR(value, expected[k], 1e-4) << k << " " << Print(graph);
  }
}

struct Outcome {
  bool has_mask = true;
  bool is_banded = false;
  int64_t offset = 0, window = 0;
  int64_t rows = 0;  // number of queries of a head
  double hidden = -kInfinity;
};

// Runs the passes, compares the results with the definition, and returns the attention node.
Outcome Check(const Case& c, const PassOptions& options = {}) {
  const Graph before = GraphOf(c);
  const auto pipeline = RunPipeline(before, {.pass = options});
  EXPECT_TRUE(pipeline) << pipeline.error().Format();
  if (!pipeline) return {};
  const Graph& after = pipeline->graph;
  Random random(static_cast<uint64_t>(c.pattern.queries * 31 + c.pattern.keys));
  const std::vector<Array> inputs = RandomInputs(before, random);
  const std::vector<double> expected = Evaluate(c, inputs);
  for (const Graph* graph : {&before, &after}) {
    const auto actual = RunReference(*graph, inputs);
    EXPECT_TRUE(actual) << actual.error().Format();
    if (actual) ExpectClose((*actual)[0], expected, *graph);
  }
  for (const Node& node : after.nodes()) {
    if (node.op != Op::kAttention) continue;
    const std::vector<int64_t> q = after.value(node.inputs[0]).type.Shape();
    return {.has_mask = node.inputs.size() > 3,
            .is_banded = node.Int("causal") != 0,
            .offset = node.Int("causal_offset"),
            .window = node.Int("window"),
            .rows = q[q.size() - 2],
            .hidden = node.Float("hidden")};
  }
  ADD_FAILURE() << "no attention: " << Print(after);
  return {};
}

std::vector<Spelling> ExactSpellings() {
  std::vector<Spelling> spellings;
  for (const bool node : {false, true}) {
    for (const bool by_heads : {false, true}) {
      spellings.push_back({.node = node, .by_heads = by_heads});
      for (const bool negated : {false, true})
        spellings.push_back(
            {.node = node, .selects = true, .negated = negated, .by_heads = by_heads});
    }
  }
  return spellings;
}

TEST(ConstantMasks, CausalBandsOfAnyOffset) {
  for (const Spelling& spelling : ExactSpellings()) {
    for (const int64_t keys : {16, 12, 21}) {
      for (const int64_t last : {0, 3, -4}) {
        const Outcome outcome = Check({{.keys = keys, .last = last}, spelling});
        EXPECT_FALSE(outcome.has_mask);
        EXPECT_TRUE(outcome.is_banded);
        EXPECT_EQ(outcome.offset, last);
        EXPECT_EQ(outcome.window, 0);
      }
    }
  }
}

TEST(ConstantMasks, Windows) {
  for (const Spelling& spelling : ExactSpellings()) {
    for (const int64_t keys : {16, 12, 21}) {
      const Outcome causal = Check({{.keys = keys, .first = -3, .last = 0}, spelling});
      EXPECT_FALSE(causal.has_mask);
      EXPECT_EQ(causal.offset, 0);
      EXPECT_EQ(causal.window, 4);
      const Outcome both = Check({{.keys = keys, .first = -2, .last = 3}, spelling});
      EXPECT_FALSE(both.has_mask);
      EXPECT_EQ(both.offset, 3);
      EXPECT_EQ(both.window, 6);
      // Only scores below a diagonal are hidden.
      const Outcome below = Check({{.keys = keys, .first = -5}, spelling});
      EXPECT_FALSE(below.has_mask);
      EXPECT_EQ(below.offset, keys - 1);
      EXPECT_EQ(below.window, keys + 5);
    }
  }
}

TEST(ConstantMasks, BlocksBecomeHeads) {
  for (const Spelling& spelling : ExactSpellings()) {
    const Outcome outcome = Check({{.queries = 48, .keys = 48, .block = 16}, spelling});
    EXPECT_EQ(outcome.rows, 16);
    EXPECT_FALSE(outcome.has_mask);
    EXPECT_FALSE(outcome.is_banded);
    const Outcome causal = Check({{.queries = 48, .keys = 48, .last = 0, .block = 16}, spelling});
    EXPECT_EQ(causal.rows, 16);
    EXPECT_FALSE(causal.has_mask);
    EXPECT_TRUE(causal.is_banded);
    // The last block is shorter, so all blocks are in a band, and the mask stays.
    const Outcome partial = Check({{.queries = 40, .keys = 40, .block = 16}, spelling});
    EXPECT_EQ(partial.rows, 40);
    EXPECT_TRUE(partial.has_mask);
    EXPECT_TRUE(partial.is_banded);
    EXPECT_EQ(partial.offset, 15);
    EXPECT_EQ(partial.window, 31);
    // Blocks of few rows are a band, too.
    const Outcome small = Check({{.queries = 48, .keys = 48, .block = 4}, spelling});
    EXPECT_EQ(small.rows, 48);
    EXPECT_TRUE(small.has_mask);
    EXPECT_EQ(small.window, 7);
  }
}

// A mask that differs in one score stays a mask. Its band may still hide scores.
TEST(ConstantMasks, NearMisses) {
  for (const Spelling& spelling : ExactSpellings()) {
    for (const auto& [i, j] : {std::pair{5, 2}, {9, 9}, {0, 0}, {3, 11}, {15, 14}}) {
      for (const Pattern& pattern : {Pattern{.last = 0}, Pattern{.first = -3, .last = 0}}) {
        const Outcome outcome = Check(
            {.pattern = pattern, .spelling = spelling, .flipped_row = i, .flipped_column = j});
        EXPECT_TRUE(outcome.has_mask) << i << " " << j;
      }
      const Outcome blocks = Check(
          {.pattern = {.block = 8}, .spelling = spelling, .flipped_row = i, .flipped_column = j});
      EXPECT_TRUE(blocks.has_mask);
      EXPECT_EQ(blocks.rows, 16);
    }
  }
}

// A finite number hides as -inf does only far below bounded scores, and if every row sees a key.
TEST(ConstantMasks, FiniteNumbers) {
  const Pattern window = {.first = -3, .last = 0};
  const Pattern blocks = {.block = 8};
  // The last rows see no key.
  const Pattern empty = {.queries = 24, .keys = 16, .first = -3, .last = 0};
  for (const bool node : {false, true}) {
    for (const bool selects : {false, true}) {
      Spelling spelling = {.node = node, .selects = selects, .bounded = true, .hidden = -1000};
      const auto hides = [&](const Pattern& pattern, const PassOptions& options = {}) {
        const Outcome outcome = Check({pattern, spelling}, options);
        const bool split = outcome.rows < pattern.queries;
        return !outcome.has_mask && outcome.hidden == -kInfinity && (outcome.is_banded || split);
      };
      EXPECT_TRUE(hides(window));
      EXPECT_TRUE(hides(blocks));
      EXPECT_FALSE(hides(empty));
      spelling.hidden = -100;
      EXPECT_FALSE(hides(window));
      EXPECT_FALSE(hides(blocks));
      for (const double number : {-1e9, double{std::numeric_limits<float>::lowest()}}) {
        spelling.hidden = number;
        EXPECT_TRUE(hides(window));
        EXPECT_TRUE(hides(blocks));
      }
      spelling.bounded = false;
      EXPECT_FALSE(hides(window));
      EXPECT_FALSE(hides(blocks));
    }
  }
}

TEST(ConstantMasks, EmptyRows) {
  for (const bool selects : {false, true}) {
    for (const std::string empty_rows : {"nan", "zero"}) {
      const Spelling spelling = {.node = true, .selects = selects, .empty_rows = empty_rows};
      EXPECT_FALSE(Check({{.last = -3}, spelling}).has_mask);
      EXPECT_FALSE(Check({{.queries = 24, .first = -2, .last = 1}, spelling}).has_mask);
    }
  }
}

// A bias with -inf above the diagonal stays a mask, and its band hides half of the scores.
TEST(ConstantMasks, BiasesHaveBands) {
  SampleGraph g("bias");
  constexpr int64_t kRows = 20;
  Array bias(DataType::kF32, {2, kRows, kRows});
  for (int64_t k = 0; k < bias.size(); ++k) {
    const int64_t distance = k % kRows - k / kRows % kRows;
    const double slope = k < kRows * kRows ? 0.5 : 0.25;
    bias.SetDouble(k, distance > 0 ? -kInfinity : slope * static_cast<double>(distance));
  }
  const ValueId y = g(Op::kAttention, {g.Input({2, kRows, 4}), g.Input({2, kRows, 4}),
                                       g.Input({2, kRows, 3}), g.Constant(std::move(bias))});
  const Graph before = g.Build({y});
  const auto pipeline = RunPipeline(before, {});
  ASSERT_TRUE(pipeline) << pipeline.error().Format();
  const Node& node = pipeline->graph.producer(pipeline->graph.outputs()[0]);
  ASSERT_EQ(node.op, Op::kAttention);
  EXPECT_EQ(node.inputs.size(), 4U);
  EXPECT_EQ(node.Int("causal"), 1);
  EXPECT_EQ(node.Int("causal_offset"), 0);
  Random random(9);
  const std::vector<Array> inputs = RandomInputs(before, random);
  const auto expected = RunReference(before, inputs);
  const auto actual = RunReference(pipeline->graph, inputs);
  ASSERT_TRUE(expected && actual);
  EXPECT_LE(RelativeError((*actual)[0], (*expected)[0]), 1e-6);
}

// A causal mask joins a mask that is not constant.
TEST(ConstantMasks, OtherMasksStay) {
  SampleGraph g("two");
  const ValueId s =
      g(Op::kMatmul, {g.Input({2, 16, 4}), g.Input({2, 16, 4})}, {{"transpose_b", int64_t{1}}});
  const ValueId low = g.Scalar(-kInfinity);
  const ValueId padded = g(Op::kWhere, {g.Input({2, 1, 16}, DataType::kBool), s, low});
  const Case window = {.pattern = {.first = -5, .last = 0},
                       .spelling = {.selects = true, .negated = true}};
  const ValueId x = g(Op::kWhere, {g.Constant(MaskOf(window)), low, padded});
  const Graph before = g.Build({g(Op::kMatmul, {g(Op::kSoftmax, {x}), g.Input({2, 16, 3})})});
  const auto pipeline = RunPipeline(before, {});
  ASSERT_TRUE(pipeline) << pipeline.error().Format();
  const Node& node = pipeline->graph.producer(pipeline->graph.outputs()[0]);
  ASSERT_EQ(node.op, Op::kAttention) << Print(pipeline->graph);
  EXPECT_EQ(node.inputs.size(), 4U);
  EXPECT_EQ(node.Int("window"), 6);
}

// The attributes causal and window join the mask of the same node.
TEST(ConstantMasks, AttributesJoinMasks) {
  for (const bool selects : {false, true}) {
    SampleGraph g("join");
    const Case below = {.pattern = {.first = -5}, .spelling = {.selects = selects}};
    const ValueId y = g(
        Op::kAttention,
        {g.Input({2, 16, 4}), g.Input({2, 16, 4}), g.Input({2, 16, 3}), g.Constant(MaskOf(below))},
        {{"causal", int64_t{1}}, {"causal_offset", int64_t{1}}});
    const Graph before = g.Build({y});
    const auto pipeline = RunPipeline(before, {});
    ASSERT_TRUE(pipeline) << pipeline.error().Format();
    const Node& node = pipeline->graph.producer(pipeline->graph.outputs()[0]);
    EXPECT_EQ(node.inputs.size(), 3U);
    EXPECT_EQ(node.Int("causal_offset"), 1);
    EXPECT_EQ(node.Int("window"), 7);
  }
}

TEST(ConstantMasks, RandomPatterns) {
  Random random(17);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random.Below(n)); };
  for (int i = 0; i < 400; ++i) {
    Case c{.pattern = {.queries = 8 + below(30), .keys = 1 + below(40)}, .heads = 1 + below(2)};
    if (below(3) > 0) c.pattern.last = below(24) - 6;
    if (below(2) > 0) c.pattern.first = std::min<int64_t>(c.pattern.last, below(24) - 18);
    if (below(3) == 0) {
      c.pattern.block = 1 + below(12);
      c.pattern.queries = c.pattern.keys = c.pattern.block * (1 + below(4)) + below(2);
      c.pattern.queries = std::max<int64_t>(8, c.pattern.queries);
    }
    c.spelling = {.node = below(2) == 0,
                  .selects = below(2) == 0,
                  .by_heads = below(2) == 0,
                  .bounded = below(2) == 0};
    c.spelling.negated = c.spelling.selects && below(2) == 0;
    if (below(3) == 0) c.spelling.hidden = below(2) == 0 ? -1000 : -50;
    if (c.spelling.node && below(2) == 0) c.spelling.empty_rows = "zero";
    if (below(3) == 0) {
      c.flipped_row = below(c.pattern.queries);
      c.flipped_column = below(c.pattern.keys);
    }
    Check(c);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tunec
