// The state of a padded graph under construction, the operators' rules for padding, and functions
// that the rules call. Only graph/pad uses this file.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/pad/pad_graph.h"
#include "graph/pad/padded_axis.h"
#include "ir/size/prove_sizes.h"
#include "support/error.h"

namespace tunec::pad {

/// A value of the padded graph.
struct PaddedValue {
  ValueId value;
  Axes axes;
  /// Axes along which elements beyond the exact positions are 0, or NaN if the exact elements are.
  /// This holds at exact positions of the other axes. Softmax, for example, leaves such zeros.
  std::set<size_t> zero_beyond = {};
};

/// The padded graph under construction, with its values and parameters. A size becomes an input of
/// the graph at its first use.
class Padder {
 public:
  /// Requires: `bucket` is `named` at these sizes.
  Padder(const Graph& named, const Graph& bucket, const SizeValues& sizes);
  Status AddInputs();

  const Graph& named() const { return named_; }
  const Graph& bucket() const { return bucket_; }
  GraphBuilder& builder() { return builder_; }
  /// Returns the padded value for a value of the graph.
  PaddedValue& at(ValueId value) { return values_[value.index]; }
  std::vector<Extents> ShapeOf(ValueId value) const;

  /// Adds a condition of the padded graph, unless it holds at all sizes. Returns false if it is
  /// false at all sizes.
  bool Require(const SizeCondition& condition);
  Requirement Requires() {
    return [this](const SizeCondition& condition) { return Require(condition); };
  }
  bool IsProved(const SizeCondition& condition) const;
  /// Requires that each axis has from 1 to `padded` exact positions. Returns false if this is false
  /// at all sizes.
  bool RequireBounds(const Axes& axes);

  /// Returns a size as a scalar: a constant, or an input of the padded graph. Marks its names as
  /// mixed. Calls with equal arguments return the same input.
  Result<ValueId> Number(const SizeExpr& size, DataType type);
  /// Returns a size as an i64 scalar, which is computed from an i32 input.
  Result<ValueId> CountOf(const SizeExpr& size);

  /// Marks the axis's sizes as mixed: elements of different positions interact, or depend on the
  /// extent.
  void Mix(const Axis& axis);
  /// Unifies two axes as pad::Unify does. Marks unified axes as mixed if their exact extents are
  /// different expressions.
  std::optional<Axis> Unify(const Axis& a, const Axis& b);
  /// Marks a size as mixed if it occurs twice in these axes, such as n in x[n, 1] * x[1, n].
  void MixWhatMeetsItself(const Axes& axes);

  /// Returns whether an element is exact along the axes `along`: a bool that broadcasts to a value
  /// with these `axes`. Marks the axes `along` as mixed. Requires: at least one of the axes `along`
  /// is open.
  Result<ValueId> IsExact(const Axes& axes, const std::set<size_t>& along);
  /// Returns the value at exact positions along `along`, and `neutral` elsewhere. Marks and
  /// requires the same as IsExact.
  Result<ValueId> Mask(const PaddedValue& value, const std::set<size_t>& along, double neutral);
  /// Returns the value at exact positions, and 0 elsewhere; repeated axes are not masked. Does not
  /// mark sizes as mixed: use it only if no exact element depends on the zeros.
  Result<ValueId> ZeroBeyond(const PaddedValue& value);
  /// Returns whether a value is computed from inputs, and is no copy of one (SourceOf). A copy of
  /// an integer input has zeros at positions that are not exact.
  bool IsComputed(ValueId value) const;

  Result<PaddedGraph> Finish() &&;

 private:
  void MixNames(const SizeExpr& size);
  Result<ValueId> Input(const SizeExpr& size, DataType type);
  Result<ValueId> IsWithin(const Axes& axes, const std::set<size_t>& along);
  Result<ValueId> Choose(ValueId is_exact, ValueId value, double neutral);
  ValueId Positions(const Axis& axis, size_t part, size_t axes_behind);

  const Graph& named_;
  const Graph& bucket_;
  SizeRanges ranges_;
  std::vector<bool> is_data_;  // by value
  GraphBuilder builder_;
  std::vector<PaddedValue> values_;
  std::vector<SizeParameter> parameters_;
  std::map<std::pair<SizeExpr, DataType>, ValueId> inputs_;  // inputs of the parameters
  std::set<SizeCondition> required_;
  std::vector<SizeCondition> conditions_;  // required conditions that are not proved
  std::set<std::string> input_names_;      // names in the sizes of inputs
  std::set<std::string> mixed_;
  std::map<std::pair<std::vector<int64_t>, size_t>, ValueId> positions_;
};

/// A node of the graph, with its operands in the padded graph. The node's rule replaces operands by
/// masked operands where necessary.
class PaddedNode {
 public:
  /// Begins to pad the node with the index `number`.
  PaddedNode(Padder& padder, size_t number);

  Op op() const { return bucket_.op; }
  const Node& named() const { return named_; }
  const Node& bucket() const { return bucket_; }
  Padder& padder() const { return padder_; }
  GraphBuilder& builder() { return padder_.builder(); }

  size_t num_inputs() const { return inputs_.size(); }
  bool Given(size_t i) const { return i < inputs_.size() && inputs_[i].value.valid(); }
  PaddedValue& input(size_t i) { return inputs_[i]; }
  const Axes& axes(size_t i) const { return inputs_[i].axes; }
  const Axis& axis(size_t i, size_t a) const { return inputs_[i].axes[a]; }

  /// Returns the common axes of operands that are broadcast against each other; omitted operands
  /// are skipped. The last `last` axes of each operand are left out. `with` are further axes to
  /// broadcast against.
  Result<Axes> UnifyInputs(const std::vector<size_t>& inputs, size_t last = 0, Axes with = {});
  Result<Axis> UnifyAxes(const Axis& a, const Axis& b);
  /// Returns whether each exact position of `axis` is the same exact position of `data`.
  bool HasSamePositions(const Axis& axis, const Axis& data);
  /// Replaces the elements of operand i beyond the exact positions of the open axes among `along`
  /// by `neutral`, and marks these axes as mixed. If `neutral` is 0, axes in `zero_beyond` are not
  /// masked.
  Status MaskInput(size_t i, const std::set<size_t>& along, double neutral);

  /// Checks that no attribute, except `but`, contains a named size.
  Status RequireFixedAttributes(const std::set<std::string_view>& but = {}) const;
  /// Checks that axis `a` of operand `i` is fixed. Rules call RequireFixed for axes that they do
  /// not support as open axes.
  Status RequireFixed(size_t i, size_t a) const;
  std::unexpected<Error> Reject(std::string_view why) const;

  std::vector<Extents> OutputShape(size_t output = 0) const;
  /// Returns an attribute that takes sizes.
  SizeExpr Size(std::string_view name) const;
  std::vector<SizeExpr> Sizes(std::string_view name) const;
  /// Returns an axis of the output as one part, which is marked as mixed.
  Axis NewAxis(size_t axis);
  /// Returns the number of exact elements along these axes of operand i, as a scalar of `type`, a
  /// float type.
  Result<ValueId> CountAlong(size_t i, const std::set<size_t>& axes, DataType type);
  Result<ValueId> CastTo(ValueId value, DataType type);

  /// Replaces an operand, or adds an operand that the node does not have.
  void SetInput(size_t i, ValueId value) {
    if (i >= inputs_.size()) inputs_.resize(i + 1);
    inputs_[i].value = value;
  }
  /// Sets the attributes of the copy, which replace those in the bucket's graph.
  void SetAttributes(Attributes attributes) { attributes_ = std::move(attributes); }
  /// Sets an output that the rule has built. Emit then does not copy the node.
  void SetResult(ValueId value) { result_ = value; }
  /// Returns the outputs of a copy of the node, or the output that the rule has built.
  Result<std::vector<ValueId>> Emit();

 private:
  Padder& padder_;
  const Node& named_;
  const Node& bucket_;
  std::vector<PaddedValue> inputs_;
  std::optional<Attributes> attributes_;
  ValueId result_;
};

/// A function that pads a node and returns its outputs. PadNode then sets their `value`.
using Rule = Result<std::vector<PaddedValue>> (*)(PaddedNode& node);
/// Returns the rule that pads the operator; null if there is none.
Rule RuleFor(Op op);

/// Returns one output with these axes and `zero_beyond`. Its `value` is not valid yet.
inline std::vector<PaddedValue> WithAxes(Axes axes, std::set<size_t> zero_beyond = {}) {
  return {PaddedValue{{}, std::move(axes), std::move(zero_beyond)}};
}

// pad_elementwise.cc
Result<std::vector<PaddedValue>> PadElementwise(PaddedNode& node);
Result<std::vector<PaddedValue>> PadBatchNorm(PaddedNode& node);
// pad_norm.cc
Result<std::vector<PaddedValue>> PadAxisNorm(PaddedNode& node);
Result<std::vector<PaddedValue>> PadChannelNorm(PaddedNode& node);
// pad_reduction.cc
/// Sums `value` along `axes`, by a reduction with `attributes`. Returns the sum divided by the
/// number of exact elements of operand 0 along `axes`. Requires: `value` is 0 beyond the exact
/// positions along `axes`.
Result<ValueId> MeanAlong(PaddedNode& node, ValueId value, const std::set<size_t>& axes,
                          const Attributes& attributes);
Result<std::vector<PaddedValue>> PadReduction(PaddedNode& node);
Result<std::vector<PaddedValue>> PadArg(PaddedNode& node);
Result<std::vector<PaddedValue>> PadSoftmax(PaddedNode& node);
Result<std::vector<PaddedValue>> PadCumSum(PaddedNode& node);
// pad_contraction.cc
Result<std::vector<PaddedValue>> PadMatmul(PaddedNode& node);
Result<std::vector<PaddedValue>> PadAttention(PaddedNode& node);
// pad_resize.cc
Result<std::vector<PaddedValue>> PadResize(PaddedNode& node);
// pad_window.cc
Result<std::vector<PaddedValue>> PadConv(PaddedNode& node);
Result<std::vector<PaddedValue>> PadConvTranspose(PaddedNode& node);
Result<std::vector<PaddedValue>> PadPool(PaddedNode& node);
// pad_movement.cc
Result<std::vector<PaddedValue>> PadTranspose(PaddedNode& node);
Result<std::vector<PaddedValue>> PadReshape(PaddedNode& node);
Result<std::vector<PaddedValue>> PadExpand(PaddedNode& node);
Result<std::vector<PaddedValue>> PadSlice(PaddedNode& node);
Result<std::vector<PaddedValue>> PadConcat(PaddedNode& node);
Result<std::vector<PaddedValue>> PadTile(PaddedNode& node);
// pad_pad.cc
/// The position of a value's axis within the axis of a result.
struct Frame {
  size_t axis = 0;
  ValueId begin;       // an i64 scalar: position of the value's first element
  int64_t length = 0;  // extent of the result
};
/// Returns the value's exact element at each position of the frame. Where there is none, the result
/// is `outside`.
Result<ValueId> PutInFrame(Padder& padder, const PaddedValue& value, const Frame& frame,
                           double outside);
/// Returns the elements of `value` at the positions `places` of an axis. The positions are clamped
/// to the axis.
Result<ValueId> TakeAt(Padder& padder, ValueId value, size_t axis, ValueId places);
/// Returns `count` numbers 0, step, 2 * step, ... as i64.
ValueId CountUp(GraphBuilder& builder, int64_t count, int64_t step = 1);
/// Returns `value` as an i64 scalar.
ValueId Whole(GraphBuilder& builder, int64_t value);
Result<std::vector<PaddedValue>> PadPad(PaddedNode& node);
// pad_indexing.cc
/// Returns `indices`, clamped to 0..extent-1.
Result<ValueId> ClampIndices(GraphBuilder& builder, ValueId indices, int64_t extent);
Result<std::vector<PaddedValue>> PadGather(PaddedNode& node);
Result<std::vector<PaddedValue>> PadGatherElements(PaddedNode& node);
Result<std::vector<PaddedValue>> PadScatter(PaddedNode& node);  // pad_scatter.cc
Result<std::vector<PaddedValue>> PadOneHot(PaddedNode& node);
Result<std::vector<PaddedValue>> PadRange(PaddedNode& node);
Result<std::vector<PaddedValue>> PadRotary(PaddedNode& node);

}  // namespace tunec::pad
