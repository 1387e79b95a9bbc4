// A generator of random graphs. A seed makes one graph. Every operator of TUNEC_OPS has a recipe or
// a reason why it is excluded; a test checks this. A recipe draws operands from the graph, or makes
// new leaves, and draws attributes. A draw that type inference rejects adds no node.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/ops/op_table.h"
#include "tests/fuzz/draws.h"

namespace tunec::fuzz {

/// The value that a recipe returns: the first result of the added node, or empty if the draw does
/// not fit.
using Made = std::optional<ValueId>;

class GraphGenerator : public Draws {
 public:
  explicit GraphGenerator(uint64_t seed);

  /// Makes a graph of about 3 to 25 nodes, not counting the leaves.
  Graph Make() &&;

  // Recipes and phrases call these members.
  Ints Shape(int64_t least_rank, int64_t most_rank);

  /// Returns an existing value or a new leaf, with a type in the domain and a rank in the range.
  ValueId Operand(Domain domain, int64_t least_rank = 0, int64_t most_rank = 5);
  /// Returns a value of exactly this type that can be broadcast with `shape` to a common shape.
  ValueId Partner(DataType type, const Ints& shape);
  /// Returns a value of exactly this type that broadcasts to `shape`.
  ValueId BroadcastingTo(DataType type, const Ints& shape);
  ValueId OfType(DataType type, const Ints& shape);  // an existing value or a leaf
  ValueId Leaf(DataType type, Ints shape);           // a new input or constant
  ValueId Constant(Array array);
  ValueId Scalar(DataType type, double value);
  ValueId Parameter(DataType type, Ints shape);  // mostly a constant
  ValueId Positive(DataType type, Ints shape);   // a constant of positive elements

  DataType TypeOf(ValueId value) const { return builder_.TypeOf(value).type; }
  Ints ShapeOf(ValueId value) const { return builder_.TypeOf(value).Shape(); }

  /// Adds the node if the inference accepts it and its results are small. Returns the first result,
  /// or no value.
  Made Try(Op op, std::vector<ValueId> inputs, Attributes attributes = {});

 private:
  void Step();
  std::vector<ValueId> ChooseOutputs();
  ValueId Recent();

  GraphBuilder builder_;
  std::vector<ValueId> known_;
  int nodes_ = 0;
  int leaves_ = 0;
};

struct Recipe {
  Op op = Op::kIdentity;
  Made (*draw)(GraphGenerator&, Op) = nullptr;
  std::string_view left_out;  // why `draw` is null
};

/// Returns the recipes, one per operator.
std::span<const Recipe> Recipes();

/// A function that adds the nodes of a pattern that people or exporters write. It returns no value
/// if the draw does not fit.
using Phrase = Made (*)(GraphGenerator&);
std::span<const Phrase> Phrases();

// Each family of recipes has a file recipes_*.cc.
Made DrawUnary(GraphGenerator& g, Op op);
Made DrawBinary(GraphGenerator& g, Op op);
Made DrawWhere(GraphGenerator& g, Op op);
Made DrawMatmul(GraphGenerator& g, Op op);
Made DrawConv(GraphGenerator& g, Op op);
Made DrawAttention(GraphGenerator& g, Op op);
Made DrawPool(GraphGenerator& g, Op op);
Made DrawReduction(GraphGenerator& g, Op op);
Made DrawArgReduction(GraphGenerator& g, Op op);
Made DrawCumSum(GraphGenerator& g, Op op);
Made DrawChannelNorm(GraphGenerator& g, Op op);
Made DrawAxisNorm(GraphGenerator& g, Op op);
Made DrawLrn(GraphGenerator& g, Op op);
Made DrawRotary(GraphGenerator& g, Op op);
Made DrawSoftmax(GraphGenerator& g, Op op);
Made DrawTranspose(GraphGenerator& g, Op op);
Made DrawReshape(GraphGenerator& g, Op op);
Made DrawExpand(GraphGenerator& g, Op op);
Made DrawSlice(GraphGenerator& g, Op op);
Made DrawConcat(GraphGenerator& g, Op op);
Made DrawPad(GraphGenerator& g, Op op);
Made DrawTile(GraphGenerator& g, Op op);
Made DrawGather(GraphGenerator& g, Op op);
Made DrawScatter(GraphGenerator& g, Op op);
Made DrawResize(GraphGenerator& g, Op op);
Made DrawRange(GraphGenerator& g, Op op);
Made DrawOneHot(GraphGenerator& g, Op op);

}  // namespace tunec::fuzz
