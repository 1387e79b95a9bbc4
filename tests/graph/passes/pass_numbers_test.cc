// Tests of passes on chosen and random graphs. Most tests compare the reference's results before
// and after the passes.
#include "graph/passes/pipeline.h"

#include <gtest/gtest.h>

#include "graph/reference.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

using Outputs = std::vector<Array>;

Graph Optimised(const Graph& graph, PipelineOptions options = {}) {
  auto result = RunPipeline(graph, options);
  EXPECT_TRUE(result) << result.error().Format();
  return result ? std::move(result->graph) : graph;
}

void ExpectSameNumbers(const Graph& before, const Graph& after, double tolerance) {
  Random random(3);
  const Outputs inputs = RandomInputs(before, random);
  const auto expected = RunReference(before, inputs, Precision::kNative);
  const auto actual = RunReference(after, inputs, Precision::kNative);
  ASSERT_TRUE(expected) << expected.error().Format();
  ASSERT_TRUE(actual) << actual.error().Format();
  ASSERT_EQ(expected->size(), actual->size());
  for (size_t i = 0; i < expected->size(); ++i)
    EXPECT_LE(RelativeError((*actual)[i], (*expected)[i]), tolerance) << Print(before) << "\n"
                                                                      << Print(after);
}

int Count(const Graph& graph, Op op) {
  int count = 0;
  for (const Node& node : graph.nodes()) count += node.op == op;
  return count;
}

Array Positive(int64_t n) {
  Array array(DataType::kF32, {n});
  for (int64_t i = 0; i < n; ++i) array.SetDouble(i, 0.5 + static_cast<double>(i % 3));
  return array;
}

ValueId Normalise(SampleGraph& g, ValueId x, int64_t channels) {
  return g(Op::kBatchNorm, {x, g.Weight({channels}), g.Weight({channels}), g.Weight({channels}),
                            g.Constant(Positive(channels))});
}

struct ConvCase {
  Op op;
  Ints x, w;
  int64_t group;
  bool bias;
};

TEST(FoldBatchNorm, EveryKindOfConvolution) {
  const std::vector<ConvCase> cases = {
      {Op::kConv, {1, 3, 6, 6}, {4, 3, 3, 3}, 1, false},
      {Op::kConv, {2, 4, 5, 5}, {6, 2, 3, 3}, 2, true},
      {Op::kConv, {1, 4, 5, 5}, {4, 1, 3, 3}, 4, false},
      {Op::kConv, {1, 3, 9}, {5, 3, 3}, 1, true},
      {Op::kConv, {1, 2, 4, 4, 4}, {3, 2, 2, 2, 2}, 1, false},
      {Op::kConvTranspose, {1, 3, 4, 4}, {3, 5, 2, 2}, 1, true},
      {Op::kConvTranspose, {1, 4, 4, 4}, {4, 3, 3, 3}, 2, false},
  };
  for (const ConvCase& c : cases) {
    SampleGraph g("conv_bn");
    const int64_t channels = c.op == Op::kConv ? c.w[0] : c.w[1] * c.group;
    std::vector<ValueId> operands = {g.Input(c.x), g.Weight(c.w)};
    if (c.bias) operands.push_back(g.Weight({channels}));
    const ValueId y =
        g(Op::kRelu, {Normalise(g, g(c.op, operands, {{"group", c.group}}), channels)});
    const Graph before = g.Build({y});
    const Graph after = Optimised(before);
    EXPECT_EQ(Count(after, Op::kBatchNorm), 0);
    EXPECT_EQ(Count(after, Op::kMul), 0) << Print(after);
    ExpectSameNumbers(before, after, 1e-5);
  }
}

TEST(FoldBatchNorm, OtherUsersBlockIt) {
  SampleGraph g("shared");
  const ValueId conv = g(Op::kConv, {g.Input({1, 3, 6, 6}), g.Weight({4, 3, 3, 3})});
  const ValueId y = Normalise(g, conv, 4);
  const Graph before = g.Build({y, conv});
  const Graph after = Optimised(before);
  EXPECT_EQ(Count(after, Op::kBatchNorm), 0);
  EXPECT_EQ(Count(after, Op::kMul), 1);  // a scale and a shift replace batch_norm
  ExpectSameNumbers(before, after, 1e-5);
}

// A square root and a division are computed per channel, not per element. A large mean is
// subtracted first.
TEST(FoldBatchNorm, MomentsThatAreInputsAreSplit) {
  for (const Ints& shape : {Ints{2, 5, 6, 7}, Ints{4, 5}, Ints{1, 5, 9}}) {
    SampleGraph g("given_moments");
    const ValueId variance = g(Op::kExp, {g.Input({5})});
    const ValueId mean = g(Op::kMul, {g.Input({5}), g.Scalar(1e4)});
    const ValueId y =
        g(Op::kBatchNorm, {g.Input(shape), g.Input({5}), g.Input({5}), mean, variance});
    const Graph before = g.Build({g(Op::kRelu, {y})});
    const Graph after = Optimised(before);
    EXPECT_EQ(Count(after, Op::kBatchNorm), 0);
    for (const Node& node : after.nodes()) {
      if (node.op != Op::kSqrt && node.op != Op::kDiv) continue;
      EXPECT_EQ(after.value(node.outputs[0]).type.Shape(), Ints{5});
    }
    ExpectSameNumbers(before, after, 1e-5);
    ExpectSameAsReference(before);
  }
}

// The passes reduce two blocks and a mean from 7 nodes to 5. Inputs and weights do not count.
TEST(FoldBatchNorm, TwoBlocks) {
  SampleGraph g("two_blocks");
  ValueId x = g.Input({1, 3, 8, 8});
  x = g(Op::kRelu, {Normalise(g, g(Op::kConv, {x, g.Weight({4, 3, 3, 3})}), 4)});
  x = g(Op::kRelu, {Normalise(g, g(Op::kConv, {x, g.Weight({4, 4, 3, 3})}), 4)});
  const ValueId y = g(Op::kReduceMean, {x}, {{"axes", Ints{2, 3}}});
  const Graph before = g.Build({y});
  const auto computing = [](const Graph& graph) {
    int count = 0;
    for (const Node& node : graph.nodes()) count += KindOf(node.op) != OpKind::kData;
    return count;
  };
  EXPECT_EQ(computing(before), 7);
  EXPECT_EQ(computing(Optimised(before)), 5);
}

TEST(RecognizePatterns, GeluByErf) {
  for (const int order : {0, 1, 2}) {
    SampleGraph g("gelu");
    const ValueId x = g.Input({3, 5});
    const ValueId erf = g(Op::kErf, {g(Op::kDiv, {x, g.Scalar(1.41421354)})});
    const ValueId gate = g(Op::kAdd, {erf, g.Scalar(1)});
    const ValueId half = g.Scalar(0.5);
    ValueId y;
    if (order == 0) y = g(Op::kMul, {g(Op::kMul, {x, gate}), half});
    if (order == 1) y = g(Op::kMul, {g(Op::kMul, {half, x}), gate});
    if (order == 2) y = g(Op::kMul, {x, g(Op::kMul, {gate, half})});
    const Graph before = g.Build({y});
    const Graph after = Optimised(before);
    EXPECT_EQ(Count(after, Op::kGelu), 1) << Print(after);
    EXPECT_EQ(Count(after, Op::kErf), 0);
    ExpectSameNumbers(before, after, 1e-5);
  }
}

TEST(RecognizePatterns, GeluByTanh) {
  for (const bool power : {true, false}) {
    SampleGraph g("gelu");
    const ValueId x = g.Input({3, 5});
    const ValueId cube =
        power ? g(Op::kPow, {x, g.Scalar(3)}) : g(Op::kMul, {x, g(Op::kMul, {x, x})});
    const ValueId inner = g(Op::kAdd, {x, g(Op::kMul, {cube, g.Scalar(0.044715)})});
    const ValueId tanh = g(Op::kTanh, {g(Op::kMul, {inner, g.Scalar(0.79788458)})});
    const ValueId gate = g(Op::kAdd, {g.Scalar(1), tanh});
    const ValueId y = g(Op::kMul, {g(Op::kMul, {g.Scalar(0.5), x}), gate});
    const Graph before = g.Build({y});
    const Graph after = Optimised(before);
    EXPECT_EQ(Count(after, Op::kGelu), 1) << Print(after);
    ExpectSameNumbers(before, after, 1e-5);
  }
}

TEST(RecognizePatterns, LayerNormAndItsRelatives) {
  SampleGraph g("layer_norm");
  const ValueId x = g.Input({3, 4, 8});
  const Attributes last = {{"axes", Ints{-1}}};
  const ValueId centred = g(Op::kSub, {x, g(Op::kReduceMean, {x}, last)});
  const ValueId variance = g(Op::kReduceMean, {g(Op::kPow, {centred, g.Scalar(2)})}, last);
  const ValueId deviation = g(Op::kSqrt, {g(Op::kAdd, {variance, g.Scalar(1e-5)})});
  const ValueId scaled = g(Op::kMul, {g(Op::kDiv, {centred, deviation}), g.Weight({8})});
  const ValueId y = g(Op::kAdd, {scaled, g.Weight({8})});
  const ValueId mean_square = g(Op::kReduceMean, {g(Op::kMul, {y, y})}, last);
  const ValueId root = g(Op::kSqrt, {g(Op::kAdd, {mean_square, g.Scalar(1e-6)})});
  const ValueId z = g(Op::kMul, {g(Op::kDiv, {y, root}), g.Weight({8})});
  const ValueId e = g(Op::kExp, {g(Op::kSub, {z, g(Op::kReduceMax, {z}, last)})});
  const ValueId s = g(Op::kDiv, {e, g(Op::kReduceSum, {e}, last)});
  const Graph before = g.Build({g(Op::kMul, {s, g(Op::kSigmoid, {s})})});
  const Graph after = Optimised(before);
  EXPECT_EQ(Count(after, Op::kLayerNorm), 1) << Print(after);
  EXPECT_EQ(Count(after, Op::kRmsNorm), 1);
  EXPECT_EQ(Count(after, Op::kSoftmax), 1);
  EXPECT_EQ(Count(after, Op::kSilu), 1);
  ExpectSameNumbers(before, after, 1e-5);
  ExpectSameAsReference(before);  // the primitives are fused by rows
}

TEST(Canonicalize, SignedZeroDecides) {
  SampleGraph g("zeros");
  const ValueId x = g.Input({4});
  const ValueId a = g(Op::kAdd, {x, g.Scalar(0.0)});
  const ValueId b = g(Op::kAdd, {a, g.Scalar(-0.0)});
  const ValueId c = g(Op::kSub, {b, g.Scalar(0.0)});
  const ValueId d = g(Op::kMul, {c, g.Scalar(1)});
  const Graph graph = g.Build({g(Op::kAbs, {g(Op::kNeg, {g(Op::kNeg, {d})})})});
  EXPECT_EQ(Count(Optimised(graph), Op::kAdd), 1);
  EXPECT_EQ(Count(Optimised(graph), Op::kSub), 0);
  EXPECT_EQ(Count(Optimised(graph), Op::kNeg), 0);
  PipelineOptions fast;
  fast.pass.rules = FloatRules::kFast;
  EXPECT_EQ(Count(Optimised(graph, fast), Op::kAdd), 0);
}

// Each of the eight expansions of 1 MiB would fit alone, but together they exceed the limit of 2
// MiB.
TEST(FoldConstants, AllTogetherAreBounded) {
  SampleGraph g("expansions");
  ValueId sum = g.Input({512, 512});
  for (int i = 0; i < 8; ++i) {
    const ValueId spread = g(Op::kExpand, {g.Scalar(i)}, {{"shape", Ints{512, 512}}});
    sum = g(Op::kSub, {sum, g(Op::kExp, {spread})});
  }
  const Graph before = g.Build({sum});
  PipelineOptions options;
  options.names = {"fold_constants", "eliminate_dead_nodes"};
  options.pass.fold_growth_bytes = 2 << 20;
  const auto bytes = [](const Graph& graph) {
    size_t total = 0;
    for (const Node& node : graph.nodes()) total += node.constant.bytes();
    return total;
  };
  const Graph after = Optimised(before, options);
  EXPECT_GT(bytes(after), size_t{1} << 20);
  EXPECT_LE(bytes(after), size_t{3} << 20);
  ExpectSameNumbers(before, after, 1e-5);
}

TEST(Pipeline, PassesCanBeSwitchedOffAndUnknownOnesAreErrors) {
  SampleGraph g("pair");
  const Graph graph = g.Build({g(Op::kNeg, {g(Op::kNeg, {g(Op::kExp, {g.Input({4})})})})});
  PipelineOptions options;
  options.disabled = {"canonicalize"};
  EXPECT_EQ(Count(Optimised(graph, options), Op::kNeg), 2);
  options.disabled = {"canonicalise"};
  const auto result = RunPipeline(graph, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "unknown pass 'canonicalise'");
}

// A generator of random graphs: chains of elementwise, moving, reducing and multiplying nodes, with
// reuse of values.
class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed), g_("random", seed) {}

  Graph Make() {
    for (int i = 0; i < 2; ++i) values_.push_back(g_.Input({2, 6, 4}));
    for (int i = 0; i < 14; ++i) values_.push_back(Step());
    return g_.Build({values_.back(), values_[values_.size() - 4]});
  }

 private:
  ValueId Pick() { return values_[random_.Below(values_.size())]; }
  ValueId Constant() {
    const double values[] = {0, -0.0, 1, 2, 0.5, -1, 0.25};
    return random_.Below(2) == 0 ? g_.Scalar(values[random_.Below(7)]) : g_.Weight({4});
  }
  // Adds one or more nodes and returns the last node's value, which has the shape 2x6x4.
  ValueId Step() {
    const Op unary[] = {Op::kRelu, Op::kNeg, Op::kTanh, Op::kSigmoid, Op::kIdentity, Op::kAbs};
    const Op binary[] = {Op::kAdd, Op::kSub, Op::kMul, Op::kMax};
    switch (random_.Below(8)) {
      case 0:
        return g_(unary[random_.Below(6)], {Pick()});
      case 1:
        return g_(binary[random_.Below(4)], {Pick(), Constant()});
      case 2:
        return g_(binary[random_.Below(4)], {Pick(), Pick()});
      case 3:
        return Move();
      case 4:
        return g_(Op::kSoftmax, {Pick()}, {{"axis", int64_t{2}}});
      case 5:
        return g_(Op::kMatmul, {Pick(), g_.Weight({4, 4})},
                  {{"transpose_b", static_cast<int64_t>(random_.Below(2))}});
      case 6:
        return g_(Op::kSub,
                  {values_.back(), g_(Op::kReduceMean, {values_.back()}, {{"axes", Ints{2}}})});
      default:
        return g_(Op::kLayerNorm, {Pick(), g_.Weight({4}), g_.Weight({4})});
    }
  }
  ValueId Move() {
    const ValueId x = Pick();
    switch (random_.Below(4)) {
      case 0: {
        const ValueId there = g_(Op::kTranspose, {x}, {{"perm", Ints{0, 2, 1}}});
        const ValueId work = g_(Op::kMul, {there, g_.Scalar(0.5)});
        return g_(Op::kTranspose, {work}, {{"perm", Ints{0, 2, 1}}});
      }
      case 1: {
        const ValueId flat = g_(Op::kReshape, {x}, {{"shape", Ints{12, 4}}});
        return g_(Op::kReshape, {g_(Op::kTanh, {flat})}, {{"shape", Ints{2, 6, 4}}});
      }
      case 2: {
        const auto half = [&](int64_t begin) {
          return g_(Op::kSlice, {x},
                    {{"starts", Ints{0, begin, 0}},
                     {"ends", Ints{2, begin + 3, 4}},
                     {"steps", Ints{1, 1, 1}}});
        };
        return g_(Op::kConcat, {half(3), half(0)}, {{"axis", int64_t{1}}});
      }
      default: {
        const ValueId heads = g_(Op::kReshape, {x}, {{"shape", Ints{2, 6, 2, 2}}});
        const ValueId turned = g_(Op::kTranspose, {heads}, {{"perm", Ints{0, 2, 1, 3}}});
        const ValueId scores = g_(Op::kMatmul, {turned, turned}, {{"transpose_b", int64_t{1}}});
        const ValueId mixed = g_(Op::kMatmul, {g_(Op::kSoftmax, {scores}), turned});
        const ValueId back = g_(Op::kTranspose, {mixed}, {{"perm", Ints{0, 2, 1, 3}}});
        return g_(Op::kReshape, {back}, {{"shape", Ints{2, 6, 4}}});
      }
    }
  }

  Random random_;
  SampleGraph g_;
  std::vector<ValueId> values_;
};

TEST(RandomGraphs, PipelineAndFusionKeepTheNumbers) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed).Make();
    const Graph after = Optimised(graph);
    ExpectSameNumbers(graph, after, 1e-4);
    ExpectSameAsReference(after, 1e-4, seed);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tunec
