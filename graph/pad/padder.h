// What is known of a padded graph while it is made, and what the rules of the operators make it
// with. Internal to graph/pad.
#pragma once

#include <functional>
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
#include "support/error.h"

namespace tunec::pad {

/// A number in each of the graphs that are looked at: the exact one, the bucket's, the samples.
using Series = std::vector<int64_t>;
bool Varies(const Series& series);

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
  Padder(const Graph& exact, const Graph& bucket, std::span<const Graph> samples);
  Status AddInputs(std::span<const OpenAxis> open);

  const Graph& exact() const { return *graphs_[0]; }
  const Graph& bucket() const { return *graphs_[1]; }
  /// Those two and the samples.
  const std::vector<const Graph*>& graphs() const { return graphs_; }
  GraphBuilder& builder() { return builder_; }
  /// By the number of a value in either graph.
  PaddedValue& at(ValueId value) { return values_[value.index]; }

  Extents ExtentsOf(ValueId value, size_t axis) const;
  std::vector<Extents> ShapeOf(ValueId value) const;
  Series SeriesOf(ValueId value, size_t axis) const;
  Series SeriesOf(const Axis& axis) const;
  /// Of the dimensions' sizes; empty where no rule says it.
  SizeExpression FormulaOf(const Axis& axis) const;

  /// The parameter that holds the exact one of extents that differ; a dimension's where that has
  /// the same extents in all graphs. `formula` may be empty, or wrong, which is found.
  int SizeParameterFor(const Series& series, const SizeExpression& formula);
  /// Fixed, or the first positions of an open one.
  Part PartFor(const Series& series, const SizeExpression& formula = {});
  /// A number that is another one in the exact graph: an input of the padded one.
  Result<ValueId> AddValueParameter(const std::string& what, Array exact,
                                    std::vector<SizeExpression> formulas);
  /// The same of the constant of this number, whose few elements differ between the graphs.
  Result<ValueId> AddConstantParameter(size_t number);
  /// An i64[] that follows from the sizes: a constant where it is the same in all graphs. Asked for
  /// twice by one name, it is one.
  Result<ValueId> AddNumber(const std::string& what, const Series& series,
                            const SizeExpression& formula);
  Result<ValueId> SizeOf(int parameter);  // i32[]
  /// How many exact positions an axis has: i64[].
  Result<ValueId> CountOf(const Axis& axis);

  /// `formula` if it holds in all graphs, or else one that does and is a sum of one of `bases` and
  /// a number.
  SizeExpression Explain(const Series& series, const SizeExpression& formula,
                         std::span<const SizeExpression> bases = {}) const;
  /// floor((base + c) / divisor), with a c for which that holds in all graphs; `added` where it
  /// does, too. Empty: none does.
  SizeExpression Quotient(const SizeExpression& base, int64_t divisor, const Series& series,
                          std::optional<int64_t> added = std::nullopt) const;

  /// Elements of different positions of these parts meet, or depend on how many there are.
  void Mix(const Axis& axis);
  /// The same, and of an extent that is no dimension's own all dimensions, of any of which it may
  /// be made: a constant of it is another one for a part of a run.
  void MixWhatMakes(const Axis& axis);
  /// Dimensions of which a number is made that the graphs differ in: a part of a run has another
  /// one. `same` compares two graphs, by their numbers.
  void MixWhatTells(const std::function<bool(size_t, size_t)>& same);
  /// How an axis lies that is in both; none where it lies differently.
  std::optional<Axis> Unify(const Axis& a, const Axis& b);
  /// Parts that two of these axes have, as those of x[n, 1] * x[1, n].
  void MixWhatMeetsItself(const Axes& axes);

  /// Whether an element is an exact one along some of its axes: bool, broadcasting to the value's
  /// shape. Requires: one of the axes is open.
  Result<ValueId> IsExact(const Axes& axes, const std::set<size_t>& along);
  /// The value where it is an exact one along these axes, else `neutral`.
  Result<ValueId> Mask(const PaddedValue& value, const std::set<size_t>& along, double neutral);
  /// The value where it is an exact one, else 0. Mixes nothing: for what no exact element comes of.
  Result<ValueId> ZeroBeyond(const PaddedValue& value);
  /// Whether a value of the bucket's has anything beyond its exact elements. An input that is only
  /// passed on has zeros there, and what constants make is folded.
  bool IsComputed(ValueId value) const;

  Result<PaddedGraph> Finish() &&;

 private:
  struct Size {
    std::string name;
    Series series;
    SizeExpression formula;
    std::string dimension;  // of an input's axis; empty: of something derived
    ValueId input;          // once it is used
  };
  Result<Axis> OpenInput(const OpenAxis& axis, std::map<std::string, int>& parameters);
  Result<ValueId> AddParameter(const std::string& name, Array value,
                               std::vector<SizeExpression> formulas);
  Result<ValueId> SizeInput(int parameter);
  Result<ValueId> IsWithin(const Axes& axes, const std::set<size_t>& along);
  Result<ValueId> Choose(ValueId is_exact, ValueId value, double neutral);
  void MixNamed(const std::vector<SizeExpression>& formulas);
  void MixDimension(size_t dimension);
  ValueId Positions(const Axis& axis, size_t part, size_t axes_behind);
  /// The formula's value in each graph; none where it has none in one.
  std::optional<Series> ValuesOf(const SizeExpression& formula) const;

  std::vector<const Graph*> graphs_;
  std::vector<bool> is_data_;                          // of the bucket's values
  std::vector<std::vector<int64_t>> dimension_sizes_;  // in each graph, of each dimension
  std::vector<std::string> dimensions_;
  GraphBuilder builder_;
  std::vector<PaddedValue> values_;
  std::vector<Size> sizes_;
  std::vector<SizeParameter> used_;
  std::set<int> mixed_;
  std::map<std::pair<std::vector<int64_t>, size_t>, ValueId> positions_;
  std::map<std::string, ValueId> numbers_;  // that AddNumber gave
};

/// A node of both graphs, with its operands in the padded one, which its rule replaces by masked
/// ones where need be.
class PaddedNode {
 public:
  /// The node of this number in both graphs.
  PaddedNode(Padder& padder, size_t number);

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
  Series OutputSeries(size_t axis, size_t output = 0) const;
  Series InputSeries(size_t i, size_t axis) const {
    return padder_.SeriesOf(bucket_.inputs[i], axis);
  }
  /// An entry of an attribute in each graph.
  Series Entries(std::string_view name, size_t entry) const;
  std::vector<double> FloatEntries(std::string_view name, size_t entry) const;
  /// An axis as the graphs have the output's, fixed or the first positions.
  Axis NewAxis(size_t axis, const SizeExpression& formula = {});
  /// How many exact elements lie along these axes of operand i, as a scalar of a type of floats.
  Result<ValueId> CountAlong(size_t i, const std::set<size_t>& axes, DataType type);
  Result<ValueId> CastTo(ValueId value, DataType type);

  /// Of an operand that the node may lack, too.
  void SetInput(size_t i, ValueId value) {
    if (i >= inputs_.size()) inputs_.resize(i + 1);
    inputs_[i].value = value;
  }
  /// The copy's, instead of the bucket's.
  void SetAttributes(Attributes attributes) { attributes_ = std::move(attributes); }
  /// The rule made the output itself: then the node is not copied.
  void SetResult(ValueId value) { result_ = value; }
  /// Copies the node with its operands, or takes what the rule made.
  Result<std::vector<ValueId>> Emit();

 private:
  Padder& padder_;
  const size_t number_;
  const Node& exact_;
  const Node& bucket_;
  Status Settle(size_t i, const Axes& wanted);
  Result<Axes> Broadcast(const std::vector<size_t>& inputs, size_t last, bool loose, Axes with);

  std::vector<PaddedValue> inputs_;
  std::optional<Attributes> attributes_;
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
// pad_norm.cc
Result<std::vector<PaddedValue>> PadAxisNorm(PaddedNode& node);
Result<std::vector<PaddedValue>> PadChannelNorm(PaddedNode& node);
// pad_reduction.cc
/// A reduction as `attributes` have it, of a value that is 0 beyond the exact elements of operand
/// 0, over how many of these there are.
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
/// Where an axis of a value is put into a longer one.
struct Frame {
  size_t axis = 0;
  ValueId begin;       // i64[]: where its first element comes to lie
  int64_t length = 0;  // of the result
};
/// The value's exact elements in the frame, around them `outside`.
Result<ValueId> PutInFrame(Padder& padder, const PaddedValue& value, const Frame& frame,
                           double outside);
/// The value at these places of an axis, which are clamped to it.
Result<ValueId> TakeAt(Padder& padder, ValueId value, size_t axis, ValueId places);
/// 0, 1, ... as i64.
ValueId CountUp(GraphBuilder& builder, int64_t count, int64_t step = 1);
/// An i64 scalar.
ValueId Whole(GraphBuilder& builder, int64_t value);
Result<std::vector<PaddedValue>> PadPad(PaddedNode& node);
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

/// The constant of this number in both graphs (pad_constant.cc). Of one shape: the elements, or a
/// parameter where they differ. Of two: none, until an operand says how it lies.
Result<std::vector<PaddedValue>> PadConstant(Padder& padder, size_t number);
/// Whether the exact constant's elements are the bucket's at these axes' exact positions.
bool LiesIn(const Array& exact, const Array& bucket, const Axes& axes);

}  // namespace tunec::pad
