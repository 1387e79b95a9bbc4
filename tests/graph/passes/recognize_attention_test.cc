// Attention written as primitives in the ways of front ends becomes one node and keeps its
// numbers; so does what looks like it and is not.
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

// How one attention is spelled.
struct Spelling {
  int scale = 0;  // of the scores, of q, of q and k, as a divisor, none
  int mask = 0;   // none, added, selected, selected the other way, a finite number selected
  bool causal = false;
  bool transposed = false;  // k^T by a transpose, not a flag
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

}  // namespace
}  // namespace tunec
