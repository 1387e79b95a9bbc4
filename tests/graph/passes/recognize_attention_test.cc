// Tests that attention in primitive nodes, as front ends write it, becomes one node with the same
// results. Passes must also preserve the results of similar graphs that are not recognised.
#include "graph/passes/recognize_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/passes/pipeline.h"
#include "graph/reference.h"
#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

int Count(const Graph& graph, Op op) {
  int count = 0;
  for (const Node& node : graph.nodes()) count += node.op == op;
  return count;
}

// One way to write attention by primitive nodes. `scale` and `mask` are indices, from 0, into the
// forms that their comments list.
struct Spelling {
  int scale = 0;  // a factor of the scores, of q, of q and k, a divisor of the scores, none
  int mask = 0;   // none, added, selected, selected the other way, a finite number selected
  bool causal = false;
  bool transposed = false;  // k^T is made by a transpose, not by a flag
  bool divided = false;
  int64_t group = 1;
  bool softcap = false;
};

struct Drawn {
  Spelling spelling;
  int64_t batch = 1, heads = 1, queries = 8, keys = 5, size = 4, width = 3;
};

class Speller {
 public:
  explicit Speller(const Drawn& drawn) : d_(drawn), g_("attention") {}

  Graph Make() {
    const int64_t all = d_.heads * d_.spelling.group;
    ValueId q = g_.Input({d_.batch, all, d_.queries, d_.size});
    ValueId k = Repeated(g_.Input({d_.batch, d_.heads, d_.keys, d_.size}), d_.size);
    const ValueId v = Repeated(g_.Input({d_.batch, d_.heads, d_.keys, d_.width}), d_.width);
    if (d_.spelling.scale == 1) q = Scaled(q, 0.5);
    if (d_.spelling.scale == 2) {
      q = Scaled(q, 0.75);
      k = Scaled(k, 0.75);
    }
    ValueId s = Product(q, k);
    if (d_.spelling.scale == 0) s = Scaled(s, 0.5);
    if (d_.spelling.scale == 3) s = g_(Op::kDiv, {s, g_.Scalar(1.75)});
    if (d_.spelling.softcap) s = Scaled(g_(Op::kTanh, {g_(Op::kDiv, {s, g_.Scalar(2)})}), 2);
    s = Masked(s);
    const ValueId y = g_(Op::kMatmul, {g_(Op::kSoftmax, {s}), v});
    return g_.Build({y});
  }

 private:
  ValueId Scaled(ValueId x, double factor) { return g_(Op::kMul, {x, g_.Scalar(factor)}); }

  ValueId Repeated(ValueId x, int64_t size) {
    const int64_t group = d_.spelling.group;
    if (group == 1) return x;
    const ValueId apart =
        g_(Op::kReshape, {x}, {{"shape", Ints{d_.batch, d_.heads, 1, d_.keys, size}}});
    const ValueId expanded =
        g_(Op::kExpand, {apart}, {{"shape", Ints{d_.batch, d_.heads, group, d_.keys, size}}});
    return g_(Op::kReshape, {expanded},
              {{"shape", Ints{d_.batch, d_.heads * group, d_.keys, size}}});
  }

  ValueId Product(ValueId q, ValueId k) {
    if (!d_.spelling.transposed) return g_(Op::kMatmul, {q, k}, {{"transpose_b", int64_t{1}}});
    return g_(Op::kMatmul, {q, g_(Op::kTranspose, {k}, {{"perm", Ints{0, 1, 3, 2}}})});
  }

  ValueId Causal(ValueId s) {
    Array mask(DataType::kF32, {d_.queries, d_.keys});
    for (int64_t i = 0; i < mask.size(); ++i)
      mask.SetDouble(i, i % d_.keys <= i / d_.keys ? 0 : -INFINITY);
    return g_(Op::kAdd, {s, g_.Constant(std::move(mask))});
  }

  ValueId Masked(ValueId s) {
    if (d_.spelling.causal && d_.spelling.mask != 4) s = Causal(s);
    const ValueId low = g_.Scalar(-INFINITY);
    switch (d_.spelling.mask) {
      case 1:
        return g_(Op::kAdd, {g_.Input({d_.batch, 1, 1, d_.keys}), s});
      case 2:
        return g_(Op::kWhere, {g_.Input({d_.keys}, DataType::kBool), s, low});
      case 3:
        return g_(Op::kWhere, {g_.Input({d_.queries, d_.keys}, DataType::kBool), low, s});
      case 4:
        return g_(Op::kWhere, {g_.Input({d_.queries, 1}, DataType::kBool), s, g_.Scalar(-1e9)});
      default:
        return s;
    }
  }

  Drawn d_;
  SampleGraph g_;
};

TEST(RecognizeAttention, EverySpellingKeepsItsNumbers) {
  Random random(23);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random.Below(n)); };
  for (int i = 0; i < 200; ++i) {
    Drawn drawn{.spelling = {.scale = static_cast<int>(below(5)),
                             .mask = static_cast<int>(below(5)),
                             .causal = below(2) == 0,
                             .transposed = below(2) == 0,
                             .group = 1 + below(3),
                             .softcap = below(4) == 0},
                .batch = 1 + below(3),
                .heads = 1 + below(3),
                .queries = 8 + below(12),
                .keys = 2 + below(20),
                .size = 2 + below(4),
                .width = 1 + below(5)};
    const Graph before = Speller(drawn).Make();
    const auto pipeline = RunPipeline(before, {});
    ASSERT_TRUE(pipeline) << pipeline.error().Format();
    const Graph& after = pipeline->graph;
    EXPECT_EQ(Count(after, Op::kAttention), 1) << Print(before) << Print(after);
    EXPECT_EQ(Count(after, Op::kMatmul) + Count(after, Op::kExpand) + Count(after, Op::kSoftmax), 0)
        << Print(after);
    if (drawn.spelling.causal && drawn.keys > 1 && drawn.spelling.mask != 4) {
      for (const Node& node : after.nodes()) {
        if (node.op == Op::kAttention) {
          EXPECT_EQ(node.Int("causal"), 1) << Print(after);
        }
      }
    }
    const std::vector<Array> inputs = RandomInputs(before, random);
    const auto expected = RunReference(before, inputs);
    const auto actual = RunReference(after, inputs);
    ASSERT_TRUE(expected && actual);
    EXPECT_LE(RelativeError((*actual)[0], (*expected)[0]), 1e-5) << Print(before) << Print(after);
    const auto groups = Fuse(after, FusionMode::kFused);
    ASSERT_TRUE(groups);
    if (HasFailure()) return;
  }
}

const Node* FindAttention(const Graph& graph) {
  for (const Node& node : graph.nodes())
    if (node.op == Op::kAttention) return &node;
  return nullptr;
}

// Returns a mask. Its elements are `hidden` for columns j > i + offset of row i, else 0. A boolean
// mask is false for these columns, else true.
Array TriangleOf(int64_t rows, int64_t columns, double hidden, int64_t offset = 0,
                 DataType type = DataType::kF32) {
  Array mask(type, {rows, columns});
  for (int64_t i = 0; i < mask.size(); ++i) {
    const bool visible = i % columns <= i / columns + offset;
    mask.SetDouble(i, type == DataType::kBool ? (visible ? 1 : 0) : (visible ? 0 : hidden));
  }
  return mask;
}

struct Hiding {
  double number = 0;
  bool bounded = true;  // scores are bounded for all inputs
  bool added = true;
  int64_t offset = 0;
};

// Builds softmax(mask(q k^T)) v of ten rows. q and k are inputs or bounded functions of inputs.
Graph Hidden(const Hiding& hiding) {
  constexpr int64_t kRows = 10;
  SampleGraph g("hidden");
  ValueId q = g.Input({kRows, 4});
  ValueId k = g.Input({kRows, 4});
  if (hiding.bounded) {
    q = g(Op::kTanh, {q});
    Array ones(DataType::kF32, {4});
    for (int64_t i = 0; i < 4; ++i) ones.SetDouble(i, 3);
    k = g(Op::kRmsNorm, {k, g.Constant(std::move(ones))});
  }
  const ValueId s = g(Op::kMatmul, {q, k}, {{"transpose_b", int64_t{1}}});
  const auto triangle = [&](DataType type) {
    return g.Constant(TriangleOf(kRows, kRows, hiding.number, hiding.offset, type));
  };
  const ValueId x = hiding.added
                        ? g(Op::kAdd, {s, triangle(DataType::kF32)})
                        : g(Op::kWhere, {triangle(DataType::kBool), s, g.Scalar(hiding.number)});
  return g.Build({g(Op::kMatmul, {g(Op::kSoftmax, {x}), g.Input({kRows, 3})})});
}

// Expects that the passes make an attention node and preserve the results. Returns whether the node
// is causal without a mask, and its hidden scores have no weight.
bool HidesColumns(const Graph& before, const PassOptions& options = {}) {
  const auto pipeline = RunPipeline(before, {.pass = options});
  EXPECT_TRUE(pipeline) << pipeline.error().Format();
  const Node* attention = FindAttention(pipeline->graph);
  EXPECT_NE(attention, nullptr) << Print(pipeline->graph);
  Random random(3);
  const std::vector<Array> inputs = RandomInputs(before, random);
  const auto expected = RunReference(before, inputs);
  const auto actual = RunReference(pipeline->graph, inputs);
  EXPECT_TRUE(expected && actual);
  EXPECT_LE(RelativeError((*actual)[0], (*expected)[0]), 1e-5) << Print(pipeline->graph);
  const bool has_mask = attention->inputs.size() > 3;
  return !has_mask && attention->Int("causal") == 1 && attention->Float("hidden") == -INFINITY;
}

TEST(RecognizeAttention, NumbersFarBelowBoundedScoresHide) {
  for (const bool added : {true, false}) {
    EXPECT_TRUE(HidesColumns(Hidden({.number = -3e38, .added = added})));
    EXPECT_TRUE(HidesColumns(Hidden({.number = -1e4, .added = added})));
    EXPECT_FALSE(HidesColumns(Hidden({.number = -100, .added = added})));
    EXPECT_FALSE(HidesColumns(Hidden({.number = -3e38, .bounded = false, .added = added})));
    // The first rows have no visible key, so their results are means over all keys.
    EXPECT_FALSE(HidesColumns(Hidden({.number = -3e38, .added = added, .offset = -2})));
    EXPECT_TRUE(HidesColumns(Hidden({.number = -INFINITY, .bounded = false, .added = added})));
  }
}

Array Numbers(const Ints& shape, Random& random) {
  return RandomArray(DataType::kF32, shape, random);
}

// A variant of attention in windows of images. The scores of six windows are reshaped to `split`,
// by default 2 x 3 windows. A mask, by default of three windows, is then added or selects scores.
struct Windows {
  Ints below;  // shapes of constant masks before and after the reshape; empty: none
  Ints above;
  Ints split = {2, 3, 2, 9, 8};
  bool selects = false;
};

Graph WindowAttention(const Windows& windows) {
  SampleGraph g("windows");
  Random random(7);
  const auto add = [&](ValueId s, const Ints& shape) {
    return shape.empty() ? s : g(Op::kAdd, {s, g.Constant(Numbers(shape, random))});
  };
  const ValueId q = g.Input({6, 2, 9, 4});
  ValueId s = g(Op::kMatmul, {q, g.Input({6, 2, 8, 4})}, {{"transpose_b", int64_t{1}}});
  s = add(s, windows.below);
  s = g(Op::kReshape, {s}, {{"shape", windows.split}});
  Ints mask = windows.split;
  if (mask.size() > 3) mask.front() = mask[mask.size() - 3] = 1;
  s = windows.selects ? g(Op::kWhere, {g.Input(mask, DataType::kBool), s, g.Scalar(-INFINITY)})
                      : add(s, mask);
  s = add(g(Op::kReshape, {s}, {{"shape", Ints{6, 2, 9, 8}}}), windows.above);
  const ValueId y = g(Op::kMatmul, {g(Op::kSoftmax, {s}), g.Input({6, 2, 8, 3})});
  return g.Build({g(Op::kExp, {y})});
}

int CountAttention(const Graph& before) {
  const auto pipeline = RunPipeline(before, {});
  EXPECT_TRUE(pipeline) << pipeline.error().Format();
  Random random(5);
  const std::vector<Array> inputs = RandomInputs(before, random);
  const auto expected = RunReference(before, inputs);
  const auto actual = RunReference(pipeline->graph, inputs);
  EXPECT_TRUE(expected && actual);
  EXPECT_LE(RelativeError((*actual)[0], (*expected)[0]), 1e-5) << Print(pipeline->graph);
  return Count(pipeline->graph, Op::kAttention);
}

TEST(RecognizeAttention, MasksOverSplitBatches) {
  EXPECT_EQ(CountAttention(WindowAttention({})), 1);
  EXPECT_EQ(CountAttention(WindowAttention({.selects = true})), 1);
  EXPECT_EQ(CountAttention(WindowAttention({.below = {1, 2, 9, 8}})), 1);
  EXPECT_EQ(CountAttention(WindowAttention({.below = {2, 9, 8}})), 1);
  EXPECT_EQ(CountAttention(WindowAttention({.above = {6, 1, 9, 8}})), 1);
  EXPECT_EQ(CountAttention(WindowAttention({.split = {1, 6, 2, 9, 8}})), 1);
  // Attention with three masks, a selection after a mask, or reshaped heads or rows is not
  // recognised.
  EXPECT_EQ(CountAttention(WindowAttention({.below = {8}, .above = {8}})), 0);
  EXPECT_EQ(CountAttention(WindowAttention({.below = {8}, .selects = true})), 0);
  EXPECT_EQ(CountAttention(WindowAttention({.split = {12, 9, 8}})), 0);
  EXPECT_EQ(CountAttention(WindowAttention({.split = {6, 2, 3, 3, 8}})), 0);
}

// If the sum of two masks overflows to -inf in whole rows, it hides rows that neither mask hides.
TEST(RecognizeAttention, MasksWithInfiniteSumsStayApart) {
  const auto count = [](DataType type, double first, double second) {
    SampleGraph g("masks");
    ValueId s = g(Op::kMatmul, {g.Input({9, 4}, type), g.Input({9, 4}, type)},
                  {{"transpose_b", int64_t{1}}});
    for (const double number : {first, second}) {
      Array mask(type, {9, 9});
      for (int64_t i = 0; i < mask.size(); ++i) mask.SetDouble(i, number);
      s = g(Op::kAdd, {s, g.Constant(std::move(mask))});
    }
    const ValueId y = g(Op::kMatmul, {g(Op::kSoftmax, {s}), g.Input({9, 3}, type)});
    const auto pipeline = RunPipeline(g.Build({y}), {});
    EXPECT_TRUE(pipeline) << pipeline.error().Format();
    return Count(pipeline->graph, Op::kAttention);
  };
  EXPECT_EQ(count(DataType::kF16, -100, -200), 1);
  EXPECT_EQ(count(DataType::kF16, -65000, -540), 0);
  EXPECT_EQ(count(DataType::kF32, -65000, -540), 1);
  EXPECT_EQ(count(DataType::kF32, -3.4e38, -1e37), 0);
}

// A mask with one row or one column is broadcast over the scores, so it is not a triangle.
TEST(RecognizeAttention, BroadcastMasksAreNoTriangles) {
  for (const bool one_row : {true, false}) {
    SampleGraph g("broadcast");
    const ValueId s =
        g(Op::kMatmul, {g.Input({10, 4}), g.Input({10, 4})}, {{"transpose_b", int64_t{1}}});
    Array mask = one_row ? TriangleOf(1, 10, -INFINITY, 6) : TriangleOf(10, 1, -5, -2);
    const ValueId x = g(Op::kAdd, {s, g.Constant(std::move(mask))});
    const Graph graph = g.Build({g(Op::kMatmul, {g(Op::kSoftmax, {x}), g.Input({10, 3})})});
    EXPECT_FALSE(HidesColumns(graph));
  }
}

// A selection with a large result is not folded. RecognizeAttention can still compute its elements.
TEST(RecognizeAttention, SelectedTriangles) {
  for (const bool negated : {false, true}) {
    for (const double other : {0.0, 1.0}) {
      SampleGraph g("selected");
      const ValueId s =
          g(Op::kMatmul, {g.Input({9, 4}), g.Input({9, 4})}, {{"transpose_b", int64_t{1}}});
      Array visible = TriangleOf(9, 9, -INFINITY, 0, DataType::kBool);
      for (int64_t i = 0; negated && i < visible.size(); ++i) {
        visible.SetDouble(i, visible.GetDouble(i) == 0 ? 1 : 0);
      }
      const ValueId low = g.Scalar(-INFINITY);
      const ValueId zero = g.Scalar(other);
      const ValueId mask = g(
          Op::kWhere, {g.Constant(std::move(visible)), negated ? low : zero, negated ? zero : low});
      const Graph graph =
          g.Build({g(Op::kMatmul, {g(Op::kSoftmax, {g(Op::kAdd, {s, mask})}), g.Input({9, 3})})});
      // A mask with 1 in place of 0 hides the same elements, but stays a mask.
      EXPECT_EQ(HidesColumns(graph, {.fold_growth_bytes = 0, .fold_growth_factor = 0}), other == 0);
    }
  }
}

TEST(RecognizeAttention, ConstantTrianglesOfAttentionNodes) {
  for (const DataType type : {DataType::kBool, DataType::kF32}) {
    for (const int64_t offset : {0, 3}) {
      SampleGraph g("attention");
      const ValueId mask = g.Constant(TriangleOf(9, 12, -INFINITY, offset, type));
      const Graph graph =
          g.Build({g(Op::kAttention, {g.Input({9, 4}), g.Input({12, 4}), g.Input({12, 3}), mask})});
      EXPECT_TRUE(HidesColumns(graph));
    }
  }
}

}  // namespace
}  // namespace tunec
