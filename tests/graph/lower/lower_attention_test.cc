// Tests of lowered attention. Every lowering is compared with the reference. Slices and transposes
// of heads must become part of the kernel.
#include <algorithm>
#include <numeric>

#include "graph/reference.h"
#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

struct Shapes {
  Ints q, k, v;
};

enum class MaskKind { kNone, kBool, kFloat };

// Returns a graph with one attention. `mask` is the shape of the mask, if `kind` has a mask.
Graph AttentionGraph(const Shapes& shapes, const Attributes& attributes,
                     MaskKind kind = MaskKind::kNone, const Ints& mask = {},
                     DataType type = DataType::kF32) {
  SampleGraph g("attention");
  std::vector<ValueId> operands = {g.Input(shapes.q, type), g.Input(shapes.k, type),
                                   g.Input(shapes.v, type)};
  if (kind == MaskKind::kBool) operands.push_back(g.Input(mask, DataType::kBool));
  if (kind == MaskKind::kFloat) operands.push_back(g.Input(mask, type));
  const ValueId y = g(Op::kAttention, operands, attributes);
  return g.Build({y});
}

size_t CountLowerings(const Graph& graph) {
  const auto groups = Fuse(graph, FusionMode::kFused);
  EXPECT_TRUE(groups) << groups.error().Format();
  size_t most = 0;
  for (const FusionGroup& group : *groups) {
    const auto lowerings = Lower(graph, group);
    EXPECT_TRUE(lowerings) << lowerings.error().Format();
    most = std::max(most, lowerings->size());
  }
  return most;
}

void ExpectEveryLowering(const Graph& graph, double tolerance = 2e-5) {
  Random random(5);
  const std::vector<Array> inputs = RandomInputs(graph, random);
  const auto expected = RunReference(graph, inputs, Precision::kNative);
  ASSERT_TRUE(expected) << expected.error().Format();
  for (size_t choice = 0; choice < CountLowerings(graph); ++choice) {
    const auto actual = RunLowered(graph, inputs, FusionMode::kFused, choice);
    ASSERT_TRUE(actual) << actual.error().Format();
    EXPECT_LE(RelativeError((*actual)[0], (*expected)[0]), tolerance)
        << LoweringText(graph, FusionMode::kFused, 0, choice);
  }
}

TEST(LowerAttention, AwkwardSizes) {
  ExpectEveryLowering(AttentionGraph({{2, 3, 7, 5}, {2, 3, 7, 5}, {2, 3, 7, 4}}, {}));
  ExpectEveryLowering(AttentionGraph({{1, 1, 1, 5}, {1, 1, 1, 5}, {1, 1, 1, 3}}, {}));
  ExpectEveryLowering(AttentionGraph({{1, 2, 1, 3}, {1, 2, 150, 3}, {1, 2, 150, 2}}, {}));
  ExpectEveryLowering(AttentionGraph({{19, 3}, {141, 3}, {141, 2}}, {}));
  ExpectEveryLowering(AttentionGraph({{3, 17, 3}, {3, 130, 3}, {3, 130, 2}}, {{"scale", 0.7}}));
}

TEST(LowerAttention, NoKeysGiveZero) {
  ExpectEveryLowering(AttentionGraph({{2, 3, 5}, {2, 0, 5}, {2, 0, 4}}, {}));
  ExpectEveryLowering(AttentionGraph({{2, 0, 5}, {2, 3, 5}, {2, 3, 4}}, {}));
}

TEST(LowerAttention, Causal) {
  for (const int64_t offset : {0, 3, 140, -2, -40}) {
    const Attributes attributes = {{"causal", int64_t{1}}, {"causal_offset", offset}};
    ExpectEveryLowering(AttentionGraph({{2, 37, 3}, {2, 150, 3}, {2, 150, 2}}, attributes));
  }
}

TEST(LowerAttention, Windows) {
  for (const int64_t offset : {0, 3, 140, -40}) {
    for (const int64_t window : {1, 20, 145}) {
      const Attributes attributes = {
          {"causal", int64_t{1}}, {"causal_offset", offset}, {"window", window}};
      ExpectEveryLowering(AttentionGraph({{37, 3}, {256, 3}, {256, 2}}, attributes));
      ExpectEveryLowering(AttentionGraph({{100, 3}, {60, 3}, {60, 2}}, attributes));
    }
  }
}

TEST(LowerAttention, Masks) {
  for (const MaskKind kind : {MaskKind::kBool, MaskKind::kFloat}) {
    const Shapes shapes = {{2, 2, 19, 3}, {2, 2, 140, 3}, {2, 2, 140, 2}};
    for (const Ints& mask : {Ints{140}, Ints{19, 1}, Ints{2, 1, 1, 140}, Ints{2, 2, 19, 140}})
      ExpectEveryLowering(AttentionGraph(shapes, {}, kind, mask));
    const Attributes both = {
        {"causal", int64_t{1}}, {"softcap", 0.5}, {"causal_offset", int64_t{9}}};
    ExpectEveryLowering(AttentionGraph(shapes, both, kind, {19, 140}));
  }
}

TEST(LowerAttention, RowsWithoutKeys) {
  for (const std::string empty : {"nan", "zero"}) {
    const Attributes attributes = {
        {"causal", int64_t{1}}, {"causal_offset", int64_t{-20}}, {"empty_rows", empty}};
    ExpectEveryLowering(AttentionGraph({{2, 37, 3}, {2, 150, 3}, {2, 150, 2}}, attributes));
  }
}

// The score of hidden keys may be a finite number. Then rows without visible keys are means of all
// values.
TEST(LowerAttention, HiddenScoresOfANumber) {
  const Attributes attributes = {
      {"causal", int64_t{1}}, {"causal_offset", int64_t{-3}}, {"hidden", -1e9}};
  const Shapes shapes = {{2, 37, 3}, {2, 150, 3}, {2, 150, 2}};
  ExpectEveryLowering(AttentionGraph(shapes, attributes));
  ExpectEveryLowering(AttentionGraph(shapes, attributes, MaskKind::kBool, {37, 150}));
}

// If a lowering has two KV blocks, all scores of the first one are -inf. Such scores must not
// affect the second block.
TEST(LowerAttention, FirstChunkMasked) {
  SampleGraph g("attention");
  Array mask(DataType::kBool, {150});
  for (int64_t j = 0; j < 150; ++j) mask.SetInt(j, j > 130 ? 1 : 0);
  const ValueId y = g(Op::kAttention, {g.Input({5, 3}), g.Input({150, 3}), g.Input({150, 2}),
                                       g.Constant(std::move(mask))});
  ExpectEveryLowering(g.Build({y}));
}

TEST(LowerAttention, GroupedQueries) {
  const Shapes shapes = {{2, 6, 9, 3}, {2, 2, 131, 3}, {2, 2, 131, 2}};
  ExpectEveryLowering(AttentionGraph(shapes, {}));
  ExpectEveryLowering(AttentionGraph(shapes, {}, MaskKind::kFloat, {6, 1, 131}));
}

TEST(LowerAttention, Types) {
  const Shapes shapes = {{2, 9, 5}, {2, 131, 5}, {2, 131, 4}};
  ExpectEveryLowering(AttentionGraph(shapes, {}, MaskKind::kNone, {}, DataType::kF64), 1e-12);
  ExpectEveryLowering(AttentionGraph(shapes, {}, MaskKind::kNone, {}, DataType::kF16), 2e-3);
  ExpectEveryLowering(AttentionGraph(shapes, {}, MaskKind::kNone, {}, DataType::kBF16), 1e-2);
}

// Returns a graph with attention of heads that are sliced from one projection, [B, S, 3*H*D]. The
// heads of the result are joined to [B, S, H*D].
Graph Projected(int64_t sequence, int64_t heads, int64_t size) {
  SampleGraph g("projected");
  const ValueId x = g.Input({2, sequence, 3 * heads * size});
  std::vector<ValueId> operands;
  for (int64_t part = 0; part < 3; ++part) {
    const ValueId slice = g(Op::kSlice, {x},
                            {{"starts", Ints{0, 0, part * heads * size}},
                             {"ends", Ints{2, sequence, (part + 1) * heads * size}}});
    const ValueId split = g(Op::kReshape, {slice}, {{"shape", Ints{2, sequence, heads, size}}});
    operands.push_back(g(Op::kTranspose, {split}, {{"perm", Ints{0, 2, 1, 3}}}));
  }
  const ValueId y = g(Op::kAttention, operands);
  const ValueId back = g(Op::kTranspose, {y}, {{"perm", Ints{0, 2, 1, 3}}});
  const ValueId merged = g(Op::kReshape, {back}, {{"shape", Ints{2, sequence, heads * size}}});
  return g.Build({merged});
}

TEST(LowerAttention, HeadLayoutsAreViews) {
  const Graph graph = Projected(19, 3, 5);
  ExpectEveryLowering(graph);
  const auto groups = Fuse(graph, FusionMode::kFused);
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->size(), 1U);
  const auto lowerings = Lower(graph, groups->at(0));
  ASSERT_TRUE(lowerings);
  for (const Lowering& lowering : *lowerings) {
    int reads = 0;
    for (const Statement& statement : lowering.compute.statements)
      for (const Read& read : statement.reads)
        reads += lowering.compute.tensors[read.tensor].role == TensorRole::kInput;
    EXPECT_EQ(reads, 3) << Print(lowering.compute);
    EXPECT_EQ(lowering.compute.statements.back().name, "out0");
  }
}

TEST(LowerAttention, RandomShapes) {
  Random random(11);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random.Below(n)); };
  for (int i = 0; i < 25; ++i) {
    const int64_t batch = 1 + below(2), heads = 1 + below(3), group = 1 + below(3);
    const int64_t queries = 1 + below(40), keys = 1 + below(160), size = 1 + below(6);
    const Shapes shapes = {{batch, heads * group, queries, size},
                           {batch, heads, keys, size},
                           {batch, heads, keys, 1 + below(6)}};
    Attributes attributes = {{"scale", 0.25 * static_cast<double>(1 + below(8))}};
    if (below(2) == 0) {
      attributes["causal"] = int64_t{1};
      attributes["causal_offset"] = below(30) - 5;
      if (below(2) == 0) attributes["window"] = 1 + below(50);
    }
    if (below(4) == 0) attributes["softcap"] = 1.5;
    if (below(2) == 0) attributes["empty_rows"] = "zero";
    Ints mask = {batch, heads * group, queries, keys};
    for (int64_t& extent : mask) extent = below(2) == 0 ? 1 : extent;
    ExpectEveryLowering(AttentionGraph(shapes, attributes, static_cast<MaskKind>(below(3)), mask));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tunec
