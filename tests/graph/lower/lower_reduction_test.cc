#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

TEST(LowerReduce, AxesAndKeptDimensions) {
  for (const Op op :
       {Op::kReduceSum, Op::kReduceMean, Op::kReduceMax, Op::kReduceMin, Op::kReduceProd,
        Op::kReduceL1, Op::kReduceL2, Op::kReduceSumSquare, Op::kReduceLogSumExp}) {
    for (const Ints& axes : {Ints{2}, Ints{0, 2}, Ints{1}, Ints{0, 1, 2}}) {
      for (const int64_t keepdims : {0, 1}) {
        SampleGraph g(std::string(Name(op)));
        const ValueId y = g(op, {g.Input({2, 3, 4})}, {{"axes", axes}, {"keepdims", keepdims}});
        ExpectSameAsReference(g.Build({y}));
      }
    }
  }
}

TEST(LowerReduce, Types) {
  for (const DataType type : {DataType::kF16, DataType::kF64, DataType::kI32, DataType::kI8}) {
    SampleGraph g("sum");
    const ValueId y = g(Op::kReduceSum, {g.Input({3, 9}, type)}, {{"axes", Ints{1}}});
    ExpectSameAsReference(g.Build({y}), 2e-3);
  }
}

TEST(LowerReduce, ArgMaxAndArgMin) {
  for (const Op op : {Op::kArgMax, Op::kArgMin}) {
    for (const int64_t last : {0, 1}) {
      SampleGraph g(std::string(Name(op)));
      const ValueId x = g.Input({3, 17, 2}, DataType::kI32);  // with ties
      const ValueId y =
          g(op, {x}, {{"axis", int64_t{1}}, {"keepdims", last}, {"select_last_index", last}});
      ExpectSameAsReference(g.Build({y}), 0);
    }
  }
}

TEST(LowerCumSum, AllModes) {
  for (const int64_t exclusive : {0, 1}) {
    for (const int64_t reverse : {0, 1}) {
      SampleGraph g("cumsum");
      const ValueId y = g(Op::kCumSum, {g.Input({2, 6, 3})},
                          {{"axis", int64_t{1}}, {"exclusive", exclusive}, {"reverse", reverse}});
      ExpectSameAsReference(g.Build({y}));
    }
  }
}

TEST(LowerPool, MaxAndAverage) {
  struct Case {
    Ints x, kernel, strides, pads, dilations;
  };
  const std::vector<Case> cases = {
      {{1, 2, 7, 8}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}},
      {{1, 2, 7, 8}, {2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}},
      {{2, 2, 7, 8}, {3, 2}, {1, 2}, {0, 0, 2, 1}, {1, 1}},
      {{1, 2, 9, 9}, {3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
      {{1, 2, 9}, {3}, {2}, {1, 1}, {1}},
      {{1, 1, 4, 5, 6}, {2, 2, 2}, {1, 2, 2}, {0, 1, 0, 0, 1, 0}, {1, 1, 1}},
  };
  for (const Case& c : cases) {
    const Attributes attributes = {
        {"kernel", c.kernel}, {"strides", c.strides}, {"pads", c.pads}, {"dilations", c.dilations}};
    SampleGraph g("max_pool");
    ExpectSameAsReference(g.Build({g(Op::kMaxPool, {g.Input(c.x)}, attributes)}));
    for (const int64_t include : {0, 1}) {
      SampleGraph h("average_pool");
      Attributes with = attributes;
      with["count_include_pad"] = include;
      ExpectSameAsReference(h.Build({h(Op::kAveragePool, {h.Input(c.x)}, with)}));
    }
  }
}

TEST(LowerLrn, Windows) {
  for (const int64_t size : {3, 4, 5}) {
    SampleGraph g("lrn");
    const ValueId y =
        g(Op::kLrn, {g.Input({2, 7, 3, 3})}, {{"size", size}, {"alpha", 0.5}, {"beta", 0.75}});
    ExpectSameAsReference(g.Build({y}));
  }
}

TEST(LowerSoftmax, Axes) {
  for (const Op op : {Op::kSoftmax, Op::kLogSoftmax}) {
    for (const int64_t axis : {-1, 1, 0}) {
      SampleGraph g(std::string(Name(op)));
      const ValueId y = g(op, {g.Input({3, 4, 5})}, {{"axis", axis}});
      ExpectSameAsReference(g.Build({y}));
    }
  }
}

TEST(LowerNormalise, All) {
  SampleGraph layer("layer_norm");
  const ValueId y =
      layer(Op::kLayerNorm, {layer.Input({3, 4, 10}), layer.Weight({10}), layer.Weight({10})});
  ExpectSameAsReference(layer.Build({y}));
  SampleGraph two("layer_norm_two_axes");
  ExpectSameAsReference(two.Build(
      {two(Op::kLayerNorm, {two.Input({3, 4, 5}), two.Weight({4, 5})}, {{"axis", int64_t{1}}})}));
  SampleGraph rms("rms_norm");
  ExpectSameAsReference(rms.Build({rms(Op::kRmsNorm, {rms.Input({3, 10}), rms.Weight({10})})}));
  SampleGraph instance("instance_norm");
  ExpectSameAsReference(
      instance.Build({instance(Op::kInstanceNorm, {instance.Input({2, 3, 4, 5}),
                                                   instance.Weight({3}), instance.Weight({3})})}));
  SampleGraph group("group_norm");
  ExpectSameAsReference(group.Build(
      {group(Op::kGroupNorm, {group.Input({2, 6, 4, 5}), group.Weight({6}), group.Weight({6})},
             {{"groups", int64_t{3}}})}));
}

// The channels are adjacent in memory. A group of the group norm has 6, 3 or 1 channels.
TEST(LowerNormalise, ChannelsThatLieSideBySide) {
  Layout last{.shape = {2, 4, 5, 6}, .map = {}};
  for (const size_t d : {0, 2, 3, 1}) last.map.push_back(IndexExpr::Var(DimensionVar(d)));
  for (const int64_t groups : {1, 2, 6}) {
    SampleGraph g("group_norm");
    const ValueId x = g(Op::kConv, {g.Input({2, 3, 4, 5}), g.Weight({6, 3, 1, 1})});
    const ValueId y = g(Op::kGroupNorm, {x, g.Weight({6}), g.Weight({6})}, {{"groups", groups}});
    const ValueId z = g(Op::kInstanceNorm, {y, g.Weight({6}), g.Weight({6})});
    for (const ValueId value : {x, y, z}) g.SetLayout(value, last);
    ExpectSameAsReference(g.Build({g(Op::kRelu, {z})}));
  }
}

// Element-wise nodes before and after the reduction join its kernel.
TEST(LowerSoftmax, WithElementwiseAround) {
  SampleGraph g("scores");
  const ValueId x = g.Input({2, 4, 6});
  const ValueId scaled = g(Op::kMul, {x, g.Scalar(0.125)});
  const ValueId masked = g(Op::kAdd, {scaled, g.Input({4, 6})});
  const ValueId y = g(Op::kRelu, {g(Op::kSoftmax, {masked})});
  const Graph graph = g.Build({y});
  EXPECT_EQ(Fuse(graph, FusionMode::kFused)->size(), 1U);
  ExpectSameAsReference(graph);
}

}  // namespace
}  // namespace tunec
