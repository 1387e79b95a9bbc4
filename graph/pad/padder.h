// What is known of a padded graph while it is made, and what the rules of the operators make it
// with. Internal to graph/pad.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/pad/pad_graph.h"
#include "graph/pad/padded_axis.h"
#include "support/error.h"

namespace tunec::pad {

/// A value of the padded graph.
struct PaddedValue {
  ValueId value;
  Axes axes;
  /// Axes along which all that is beyond the exact positions is 0, where it is an exact one in the
  /// other axes: what softmax leaves, say.
  std::set<size_t> zero_beyond;
  /// Of a constant whose shape depends on the sizes: its elements lie as another operand's axes
  /// want them, or as `axes` says if they do (`lies`).
  bool is_loose = false;
  bool lies = true;
};

/// The graph that is made, and its parameters. A parameter becomes an input with its first use.
class Padder {
 public:
  Padder(const Graph& exact, const Graph& bucket);
  Status AddInputs(std::span<const OpenAxis> open);

  const Graph& exact() const { return exact_; }
  const Graph& bucket() const { return bucket_; }
  GraphBuilder& builder() { return builder_; }
  /// By the number of a value in either graph.
  PaddedValue& at(ValueId value) { return values_[value.index]; }

  Extents ExtentsOf(ValueId value, size_t axis) const;
  std::vector<Extents> ShapeOf(ValueId value) const;

  /// The parameter that holds the exact one of two extents that differ; the one of an input's axis
  /// where there is one with these extents.
  int SizeParameterFor(Extents extents);
  /// Fixed, or the first positions of an open one.
  Part PartFor(Extents extents);
  /// A number, or few, that are others in the exact graph: an input of the padded one.
  Result<ValueId> AddValueParameter(const std::string& what, Array exact);
  Result<ValueId> SizeOf(int parameter);  // i32[]

  /// Elements of different positions of these parts meet, or depend on how many there are.
  void Mix(const Axis& axis);
  /// Parts that two of these axes have, as those of x[n, 1] * x[1, n].
  void MixWhatMeetsItself(const Axes& axes);

  /// Whether an element is an exact one along some of its axes: bool, broadcasting to the value's
  /// shape. Requires: one of the axes is open.
  Result<ValueId> IsExact(const Axes& axes, const std::set<size_t>& along);
  /// The value where it is an exact one along these axes, else `neutral`.
  Result<ValueId> Mask(const PaddedValue& value, const std::set<size_t>& along, double neutral);

  Result<PaddedGraph> Finish() &&;

 private:
  struct Size {
    std::string name;
    Extents extents;
    std::string dimension;  // of an input's axis; empty: of something derived
    ValueId input;          // once it is used
  };
  Result<Axis> OpenInput(const OpenAxis& axis, std::map<std::string, int>& parameters);
  Result<ValueId> AddParameter(const std::string& name, Array value);
  ValueId Positions(const Axis& axis, size_t part, size_t axes_behind);

  const Graph& exact_;
  const Graph& bucket_;
  GraphBuilder builder_;
  std::vector<PaddedValue> values_;
  std::vector<Size> sizes_;
  std::vector<SizeParameter> used_;
  std::set<int> mixed_;
  std::map<std::pair<std::vector<int64_t>, size_t>, ValueId> positions_;
};

/// A node of both graphs, with its operands in the padded one, which its rule replaces by masked
/// ones where need be.
class PaddedNode {
 public:
  PaddedNode(Padder& padder, const Node& exact, const Node& bucket);

  Op op() const { return bucket_.op; }
  const Node& exact() const { return exact_; }
  const Node& bucket() const { return bucket_; }
  Padder& padder() const { return padder_; }
  GraphBuilder& builder() { return padder_.builder(); }

  size_t num_inputs() const { return inputs_.size(); }
  bool Given(size_t i) const { return i < inputs_.size() && inputs_[i].value.valid(); }
  PaddedValue& input(size_t i) { return inputs_[i]; }
  const Axes& axes(size_t i) const { return inputs_[i].axes; }
  const Axis& axis(size_t i, size_t a) const { return inputs_[i].axes[a]; }

  /// How operands lie that are broadcast against each other; omitted ones are passed over. Loose
  /// constants settle to the others' axes. `last`: so many of the last axes are left out; `with`:
  /// axes that they are broadcast against, too.
  Result<Axes> UnifyInputs(const std::vector<size_t>& inputs, size_t last = 0, Axes with = {});
  Result<Axis> UnifyAxes(const Axis& a, const Axis& b);
  /// Operand i becomes `neutral` beyond the exact positions of those of the axes that are open.
  Status MaskInput(size_t i, const std::set<size_t>& along, double neutral);

  /// Of the attributes, those named may differ between the graphs.
  Status RequireSameAttributes(const std::set<std::string_view>& but = {}) const;
  /// Axis `a` of operand `i` is of one size, for what mixes its elements in a way of its own.
  Status RequireFixed(size_t i, size_t a) const;
  std::unexpected<Error> Refuse(std::string_view why) const;

  std::vector<Extents> OutputShape(size_t output = 0) const;
  /// Axes as the graphs have the output's, each fixed or the first positions.
  Axis NewAxis(size_t axis, size_t output = 0);

  /// Of an operand that the node may lack, too.
  void SetInput(size_t i, ValueId value) {
    if (i >= inputs_.size()) inputs_.resize(i + 1);
    inputs_[i].value = value;
  }
  /// The rule made the output itself: then the node is not copied.
  void SetResult(ValueId value) { result_ = value; }
  /// Copies the node with its operands, or takes what the rule made.
  Result<std::vector<ValueId>> Emit();

 private:
  Padder& padder_;
  const Node& exact_;
  const Node& bucket_;
  Status Settle(size_t i, const Axes& wanted);
  Result<Axes> Broadcast(const std::vector<size_t>& inputs, size_t last, bool loose, Axes with);

  std::vector<PaddedValue> inputs_;
  ValueId result_;
};

/// The outputs' axes.
using Rule = Result<std::vector<PaddedValue>> (*)(PaddedNode& node);
/// Null: the operator cannot be padded.
Rule RuleFor(Op op);

/// One output with these axes.
inline std::vector<PaddedValue> Lies(Axes axes, std::set<size_t> zero_beyond = {}) {
  return {PaddedValue{{}, std::move(axes), std::move(zero_beyond)}};
}

// pad_elementwise.cc
Result<std::vector<PaddedValue>> PadElementwise(PaddedNode& node);
Result<std::vector<PaddedValue>> PadBatchNorm(PaddedNode& node);
// pad_reduction.cc
Result<std::vector<PaddedValue>> PadReduction(PaddedNode& node);
Result<std::vector<PaddedValue>> PadArg(PaddedNode& node);
Result<std::vector<PaddedValue>> PadSoftmax(PaddedNode& node);
Result<std::vector<PaddedValue>> PadCumSum(PaddedNode& node);
Result<std::vector<PaddedValue>> PadAxisNorm(PaddedNode& node);
Result<std::vector<PaddedValue>> PadChannelNorm(PaddedNode& node);
// pad_contraction.cc
Result<std::vector<PaddedValue>> PadMatmul(PaddedNode& node);
Result<std::vector<PaddedValue>> PadAttention(PaddedNode& node);
// pad_window.cc
Result<std::vector<PaddedValue>> PadConv(PaddedNode& node);
Result<std::vector<PaddedValue>> PadPool(PaddedNode& node);
// pad_movement.cc
Result<std::vector<PaddedValue>> PadTranspose(PaddedNode& node);
Result<std::vector<PaddedValue>> PadReshape(PaddedNode& node);
Result<std::vector<PaddedValue>> PadExpand(PaddedNode& node);
Result<std::vector<PaddedValue>> PadSlice(PaddedNode& node);
Result<std::vector<PaddedValue>> PadConcat(PaddedNode& node);
Result<std::vector<PaddedValue>> PadPad(PaddedNode& node);
Result<std::vector<PaddedValue>> PadTile(PaddedNode& node);
// pad_indexing.cc
/// `indices` as numbers of elements of an axis of this many, whatever they are: for what is taken
/// where nobody looks.
Result<ValueId> ClampIndices(GraphBuilder& builder, ValueId indices, int64_t extent);
Result<std::vector<PaddedValue>> PadGather(PaddedNode& node);
Result<std::vector<PaddedValue>> PadGatherElements(PaddedNode& node);
Result<std::vector<PaddedValue>> PadScatter(PaddedNode& node);  // pad_scatter.cc
Result<std::vector<PaddedValue>> PadOneHot(PaddedNode& node);
Result<std::vector<PaddedValue>> PadRange(PaddedNode& node);
Result<std::vector<PaddedValue>> PadRotary(PaddedNode& node);
Result<std::vector<PaddedValue>> PadResize(PaddedNode& node);

/// A constant of both graphs (pad_constant.cc). Of one shape: the elements, or a parameter where
/// they differ. Of two: none, until an operand says how it lies.
Result<std::vector<PaddedValue>> PadConstant(Padder& padder, const Node& exact, const Node& bucket);
/// Whether the exact constant's elements are the bucket's at these axes' exact positions.
bool LiesIn(const Array& exact, const Array& bucket, const Axes& axes);

}  // namespace tunec::pad
