#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/sample_graph.h"

namespace tunec {
namespace {

void Check(std::string name, const std::function<ValueId(SampleGraph&)>& build) {
  SampleGraph g(std::move(name));
  const ValueId y = build(g);
  ExpectSameAsReference(g.Build({y}));
}

TEST(LowerMovement, TransposeReshapeExpandTile) {
  Check("transpose", [](SampleGraph& g) {
    return g(Op::kTranspose, {g.Input({2, 3, 4})}, {{"perm", Ints{2, 0, 1}}});
  });
  for (const Ints& shape : {Ints{24}, Ints{6, 4}, Ints{2, 12}, Ints{4, 3, 2},
                            Ints{1, 2, 1, 3, 4, 1}, Ints{8, 3}, Ints{3, 2, 4}})
    Check("reshape", [&](SampleGraph& g) {
      return g(Op::kReshape, {g.Input({2, 3, 4})}, {{"shape", shape}});
    });
  Check("expand", [](SampleGraph& g) {
    return g(Op::kExpand, {g.Input({3, 1})}, {{"shape", Ints{2, 3, 4}}});
  });
  Check("tile", [](SampleGraph& g) {
    return g(Op::kTile, {g.Input({2, 3})}, {{"repeats", Ints{3, 2}}});
  });
}

TEST(LowerMovement, Slices) {
  Check("slice", [](SampleGraph& g) {
    return g(Op::kSlice, {g.Input({5, 7})},
             {{"starts", Ints{1, 0}}, {"ends", Ints{4, 7}}, {"steps", Ints{1, 2}}});
  });
  Check("reverse", [](SampleGraph& g) {
    return g(Op::kSlice, {g.Input({5, 7})},
             {{"starts", Ints{4, 6}}, {"ends", Ints{0, -1}}, {"steps", Ints{-1, -3}}});
  });
}

TEST(LowerMovement, ConcatStoredAndFused) {
  for (const int64_t axis : {0, 1, -1}) {
    Check("concat", [&](SampleGraph& g) {
      return g(Op::kConcat, {g.Input({2, 3}), g.Input({2, 3}), g.Input({2, 3})}, {{"axis", axis}});
    });
    Check("concat_relu", [&](SampleGraph& g) {
      const ValueId joined =
          g(Op::kConcat, {g.Input({2, 3}), g(Op::kExp, {g.Input({2, 3})})}, {{"axis", axis}});
      return g(Op::kRelu, {joined});
    });
  }
}

TEST(LowerMovement, Pads) {
  for (const std::string mode : {"constant", "reflect", "edge", "wrap"})
    Check("pad_" + mode, [&](SampleGraph& g) {
      return g(Op::kPad, {g.Input({4, 5})},
               {{"pads", Ints{1, 2, 3, 0}}, {"value", 0.5}, {"mode", mode}});
    });
  Check("cut", [](SampleGraph& g) {
    return g(Op::kPad, {g.Input({4, 5})}, {{"pads", Ints{-1, 2, 1, -2}}, {"value", -3.0}});
  });
  Check("pad_of_exp_of_pad", [](SampleGraph& g) {
    const ValueId inner = g(Op::kPad, {g.Input({4, 5})}, {{"pads", Ints{1, 1, 1, 1}}});
    return g(Op::kPad, {g(Op::kExp, {inner})}, {{"pads", Ints{1, 0, 0, 2}}, {"value", 7.0}});
  });
}

TEST(LowerMovement, Gathers) {
  for (const int64_t axis : {0, 1, 2}) {
    Check("gather_input", [&](SampleGraph& g) {
      const ValueId indices = g.Input({2, 3}, DataType::kI64);
      return g(Op::kGather, {g.Input({4, 5, 6}), indices}, {{"axis", axis}});
    });
    Check("gather_negative", [&](SampleGraph& g) {
      return g(Op::kGather, {g.Input({4, 5, 6}), g.Integers({-1, 2, 0, -4})}, {{"axis", axis}});
    });
    Check("gather_one", [&](SampleGraph& g) {
      return g(Op::kGather, {g.Input({4, 5, 6}), g.Scalar(-2, DataType::kI64)}, {{"axis", axis}});
    });
  }
  Check("gather_elements", [](SampleGraph& g) {
    const ValueId indices = g.Input({4, 3}, DataType::kI32);
    return g(Op::kGatherElements, {g.Input({4, 5}), indices}, {{"axis", int64_t{1}}});
  });
  Check("embedding", [](SampleGraph& g) {
    const ValueId ids = g.Input({1, 6}, DataType::kI64);
    const ValueId word = g(Op::kGather, {g.Weight({4, 8}), ids});
    const ValueId position = g(Op::kGather, {g.Weight({9, 8}), g.Integers({0, 1, 2, 3, 4, 5})});
    const ValueId sum = g(Op::kAdd, {word, position});
    return g(Op::kLayerNorm, {sum, g.Weight({8}), g.Weight({8})});
  });
}

TEST(LowerMovement, Scatters) {
  const auto by = [](int64_t axis, const char* reduction, int64_t depth = 1) {
    return Attributes{{"axis", axis}, {"depth", depth}, {"reduction", std::string(reduction)}};
  };
  for (const char* reduction : {"none", "add", "mul", "min", "max"}) {
    for (const DataType type : {DataType::kF32, DataType::kBF16, DataType::kI32}) {
      // The row indices are 0 to 3, and 3 is out of range. Several updates have the same row.
      Check("rows", [&](SampleGraph& g) {
        const ValueId data = g.Input({2, 3, 5}, type);
        const ValueId rows = g.Input({2, 7, 1}, DataType::kI64);
        return g(Op::kScatter, {data, rows, g.Input({2, 7, 5}, type)}, by(1, reduction));
      });
      Check("elements", [&](SampleGraph& g) {
        const ValueId data = g.Input({4, 5}, type);
        const ValueId indices = g.Input({3, 7}, DataType::kI32);
        return g(Op::kScatter, {data, indices, g.Input({3, 7}, type)}, by(1, reduction));
      });
    }
    Check("constants", [&](SampleGraph& g) {
      const ValueId rows = g(Op::kReshape, {g.Integers({2, 0, 2})}, {{"shape", Ints{3, 1}}});
      return g(Op::kScatter, {g.Input({4, 5}), rows, g.Input({3, 5})}, by(0, reduction));
    });
    Check("negative", [&](SampleGraph& g) {
      const ValueId rows = g(Op::kReshape, {g.Integers({-1, 9, -4})}, {{"shape", Ints{3, 1}}});
      return g(Op::kScatter, {g.Input({4, 5}), rows, g.Input({3, 5})}, by(0, reduction));
    });
    Check("several_axes", [&](SampleGraph& g) {
      const ValueId indices = g.Input({3, 1, 1}, DataType::kI64);
      return g(Op::kScatter, {g.Input({2, 1, 3, 4, 2}), indices, g.Input({3, 4, 2})},
               by(0, reduction, 3));
    });
  }
  for (const int64_t row : {-2, 1, 9}) {
    Check("one", [&](SampleGraph& g) {
      const ValueId at = g(Op::kReshape, {g.Integers({row})}, {{"shape", Ints{1, 1}}});
      return g(Op::kScatter, {g.Input({4, 5}), at, g.Input({1, 5})}, by(0, "none"));
    });
  }
  Check("all_at_one", [&](SampleGraph& g) {
    const ValueId at = g.Input({1, 1}, DataType::kI64);
    return g(Op::kScatter, {g.Input({4, 5}), at, g.Input({3, 5})}, by(0, "none"));
  });
  Check("computed", [&](SampleGraph& g) {
    const ValueId x = g(Op::kExp, {g.Input({4, 5})});
    const ValueId at = g(Op::kAdd, {g.Input({3, 1}, DataType::kI64), g.Scalar(1, DataType::kI64)});
    const ValueId updates = g(Op::kTranspose, {g.Input({5, 3})}, {{"perm", Ints{1, 0}}});
    const ValueId y = g(Op::kScatter, {x, at, g(Op::kNeg, {updates})}, by(0, "add"));
    return g(Op::kRelu, {y});
  });
  Check("of_itself", [&](SampleGraph& g) {
    const ValueId x = g.Input({4, 5});
    return g(Op::kScatter, {x, g.Input({4, 1}, DataType::kI64), x}, by(0, "none"));
  });
}

// The embedding is the only node, or has nodes before and after, which may be fused with it.
TEST(LowerMovement, RotaryEmbedding) {
  for (const int64_t interleaved : {0, 1}) {
    for (const int64_t angles : {10, 5, 3}) {
      const Attributes attributes = {{"interleaved", interleaved}};
      Check("rotary", [&](SampleGraph& g) {
        return g(Op::kRotaryEmbedding,
                 {g.Input({2, 3, 4, 10}), g.Input({3, 1, angles}), g.Input({3, 1, angles})},
                 attributes);
      });
      Check("rotary_between", [&](SampleGraph& g) {
        const ValueId x = g(Op::kTanh, {g.Input({2, 4, 10})});
        const ValueId angle = g.Input({4, angles});
        const ValueId y =
            g(Op::kRotaryEmbedding, {x, g(Op::kCos, {angle}), g(Op::kSin, {angle})}, attributes);
        return g(Op::kTranspose, {g(Op::kMul, {y, g.Scalar(0.5)})}, {{"perm", Ints{1, 0, 2}}});
      });
    }
  }
}

TEST(LowerMovement, OneHotAndRange) {
  for (const int64_t axis : {-1, 0})
    Check("one_hot", [&](SampleGraph& g) {
      return g(Op::kOneHot, {g.Input({3, 2}, DataType::kI64)},
               {{"depth", int64_t{4}}, {"axis", axis}, {"on_value", 2.0}, {"off_value", -1.0}});
    });
  Check("range", [](SampleGraph& g) {
    return g(Op::kRange, {}, {{"start", 2.0}, {"limit", 9.0}, {"delta", 1.5}, {"to", "f32"}});
  });
}

TEST(LowerMovement, Resize) {
  const std::vector<std::string> coordinates = {
      "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"};
  for (const Ints& to : {Ints{1, 2, 8, 6}, Ints{1, 2, 7, 2}, Ints{1, 2, 1, 5}}) {
    for (const std::string& coordinate : coordinates) {
      for (const std::string mode : {"linear", "cubic"})
        Check("resize_" + mode + "_" + coordinate, [&](SampleGraph& g) {
          return g(Op::kResize, {g.Input({1, 2, 4, 3})},
                   {{"shape", to}, {"mode", mode}, {"coordinate", coordinate}});
        });
      for (const std::string nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"})
        Check("resize_" + nearest + "_" + coordinate, [&](SampleGraph& g) {
          return g(Op::kResize, {g.Input({1, 2, 4, 3})},
                   {{"shape", to}, {"coordinate", coordinate}, {"nearest_mode", nearest}});
        });
    }
  }
}

// The outputs have no elements, are sums without terms, or are concatenated with an empty value.
TEST(LowerMovement, NoElements) {
  SampleGraph g("empty");
  const ValueId x = g.Input({2, 0, 4});
  const ValueId y = g.Input({3, 4});
  const ValueId reshaped = g(Op::kReshape, {x}, {{"shape", Ints{4, 0, 2}}});
  const ValueId squared = g(Op::kMul, {x, x});
  const ValueId sum = g(Op::kReduceSum, {squared}, {{"axes", Ints{1}}});
  const ValueId with_keepdims = g(Op::kReduceSum, {squared}, {{"axes", Ints{2}}});
  const ValueId joined =
      g(Op::kConcat, {g(Op::kReshape, {x}, {{"shape", Ints{0, 4}}}), y}, {{"axis", int64_t{0}}});
  const ValueId product = g(Op::kMatmul, {g.Input({3, 0}), g.Input({0, 5})});
  const ValueId tiled = g(Op::kTile, {reshaped}, {{"repeats", Ints{1, 2, 1}}});
  ExpectSameAsReference(g.Build({reshaped, sum, with_keepdims, joined, product, tiled}), 0);
}

TEST(LowerMovement, RenamesAroundContractions) {
  SampleGraph g("heads");
  const ValueId x = g.Input({1, 5, 8});
  const auto heads = [&](ValueId value) {
    const ValueId split = g(Op::kReshape, {value}, {{"shape", Ints{1, 5, 2, 4}}});
    return g(Op::kTranspose, {split}, {{"perm", Ints{0, 2, 1, 3}}});
  };
  const ValueId q = heads(g(Op::kAdd, {g(Op::kMatmul, {x, g.Weight({8, 8})}), g.Weight({8})}));
  const ValueId k = heads(g(Op::kMatmul, {x, g.Weight({8, 8})}));
  const ValueId v = heads(g(Op::kMatmul, {x, g.Weight({8, 8})}));
  const ValueId scores = g(Op::kMatmul, {q, k}, {{"transpose_b", int64_t{1}}});
  const ValueId mixed = g(Op::kMatmul, {g(Op::kSoftmax, {scores}), v});
  const ValueId joined = g(Op::kReshape, {g(Op::kTranspose, {mixed}, {{"perm", Ints{0, 2, 1, 3}}})},
                           {{"shape", Ints{1, 5, 8}}});
  const Graph graph = g.Build({joined});
  EXPECT_EQ(Fuse(graph, FusionMode::kFused)->size(), 6U);
  ExpectSameAsReference(graph);
}

}  // namespace
}  // namespace tunec
