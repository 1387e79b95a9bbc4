// The state of a padded graph under construction, the operators' rules for padding, and functions
// that the rules call. Only graph/pad uses this file.
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

/// A number for each of the compared graphs: the exact graph, the bucket's graph and the samples.
/// Varies returns whether the number is not the same in all of them.
using Series = std::vector<int64_t>;
bool Varies(const Series& series);

/// A value of the padded graph.
struct PaddedValue {
  ValueId value;
  Axes axes;
  /// Axes along which elements beyond the exact positions are 0, or NaN if the exact elements are.
  /// This holds at exact positions of the other axes. Softmax, for example, leaves such zeros.
  std::set<size_t> zero_beyond;
  /// True for a constant whose shape depends on the sizes. Another operand's axes of equal extents
  /// replace `axes` if the bucket has the exact constant's elements at these axes' exact positions
  /// (IsEmbeddedIn). If not, `axes` stay, or an error occurs if `is_embedded` is false.
  bool is_loose = false;
  bool is_embedded = true;
};

/// The padded graph under construction, with its values and parameters. A size becomes an input of
/// the graph at its first use.
class Padder {
 public:
  Padder(const Graph& exact, const Graph& bucket, std::span<const Graph> samples);
  Status AddInputs(std::span<const OpenAxis> open);

  const Graph& exact() const { return *graphs_[0]; }
  const Graph& bucket() const { return *graphs_[1]; }
  /// Returns the exact graph, the bucket's graph and the samples.
  const std::vector<const Graph*>& graphs() const { return graphs_; }
  GraphBuilder& builder() { return builder_; }
  /// Returns the padded value for a value of the exact graph or of the bucket's graph.
  PaddedValue& at(ValueId value) { return values_[value.index]; }

  Extents ExtentsOf(ValueId value, size_t axis) const;
  std::vector<Extents> ShapeOf(ValueId value) const;
  Series SeriesOf(ValueId value, size_t axis) const;
  Series SeriesOf(const Axis& axis) const;
  /// Returns the axis's exact extent as a function of the dimensions' sizes; empty if no rule gives
  /// it.
  SizeExpression FormulaOf(const Axis& axis) const;

  /// Returns the parameter that holds the exact extent, which differs between the graphs. It is a
  /// dimension's parameter if the dimension has the same extents in all graphs. `formula` may be
  /// empty, and is used only if it holds in all graphs.
  int SizeParameterFor(const Series& series, const SizeExpression& formula);
  /// Returns a fixed part if the extent is equal in all graphs. Otherwise returns an open part.
  Part PartFor(const Series& series, const SizeExpression& formula = {});
  /// Adds an input of the padded graph for an array that differs between the graphs. `exact` is its
  /// value in the exact graph. Marks the dimensions in `formulas` as mixed, or all dimensions if a
  /// formula is empty.
  Result<ValueId> AddValueParameter(const std::string& what, Array exact,
                                    std::vector<SizeExpression> formulas);
  /// Adds an input for the constant that is node `number` and differs between the graphs. Marks the
  /// dimensions on which the constant may depend (MixWhatTells).
  Result<ValueId> AddConstantParameter(size_t number);
  /// Returns a number as an i64 scalar: a constant if it is equal in all graphs, else a parameter
  /// of AddValueParameter. Calls with equal `what` return the same parameter.
  Result<ValueId> AddNumber(const std::string& what, const Series& series,
                            const SizeExpression& formula);
  Result<ValueId> SizeOf(int parameter);  // an i32 scalar
  /// Returns the number of exact positions of an axis as an i64 scalar.
  Result<ValueId> CountOf(const Axis& axis);

  /// Returns `formula` if it gives `series` in all graphs. Otherwise returns a constant if `series`
  /// does not vary. Otherwise returns one of `bases` plus a constant if the sum gives `series`, or
  /// an empty expression. A base must have at least three different values.
  SizeExpression Explain(const Series& series, const SizeExpression& formula,
                         std::span<const SizeExpression> bases = {}) const;
  /// Returns floor((base + c) / divisor) with a constant c for which the quotient equals `series`
  /// in all graphs; c is `added` if possible. Returns an empty expression if no such c exists.
  SizeExpression Quotient(const SizeExpression& base, int64_t divisor, const Series& series,
                          std::optional<int64_t> added = std::nullopt) const;

  /// Marks the axis's open parts as mixed: elements of different positions interact, or depend on
  /// the extent.
  void Mix(const Axis& axis);
  /// Marks the axis's open parts as mixed. If an open part's extent is not a dimension's, it may
  /// depend on any dimension, so all dimensions are marked. If a run were split, a constant of this
  /// extent could differ.
  void MixWhatMakes(const Axis& axis);
  /// Marks the dimensions on which a constant may depend: if a run were split along such a
  /// dimension, the constant could differ. `same` compares the constant in two graphs, given by
  /// their indices. A dimension stays unmarked only if the constant is the same in all pairs of
  /// graphs that differ in this dimension alone, and if there is such a pair.
  void MixWhatTells(const std::function<bool(size_t, size_t)>& same);
  /// Unifies two axes as pad::Unify does. Marks unified axes as mixed if both are open and have
  /// different parameters.
  std::optional<Axis> Unify(const Axis& a, const Axis& b);
  /// Marks a parameter as mixed if it occurs twice in these axes, such as n in x[n, 1] * x[1, n].
  void MixWhatMeetsItself(const Axes& axes);

  /// Returns whether an element is exact along the axes `along`: a bool that broadcasts to a value
  /// with these `axes`. Marks the axes `along`, and the dimensions on which their extents may
  /// depend, as mixed. Requires: at least one of the axes `along` is open.
  Result<ValueId> IsExact(const Axes& axes, const std::set<size_t>& along);
  /// Returns the value at exact positions along `along`, and `neutral` elsewhere. Marks and
  /// requires the same as IsExact.
  Result<ValueId> Mask(const PaddedValue& value, const std::set<size_t>& along, double neutral);
  /// Returns the value at exact positions, and 0 elsewhere; repeated axes are not masked. Does not
  /// mark dimensions as mixed: use it only if no exact element depends on the zeros.
  Result<ValueId> ZeroBeyond(const PaddedValue& value);
  /// Returns whether a value of the bucket's graph is computed from inputs, and is no copy of one
  /// (SourceOf). A copy of an integer input has zeros at positions that are not exact.
  bool IsComputed(ValueId value) const;

  Result<PaddedGraph> Finish() &&;

 private:
  struct Size {
    std::string name;
    Series series;
    SizeExpression formula;
    std::string dimension;  // dimension of an input's axis; empty for a derived size
    ValueId input;          // set at the first use
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
  /// Returns the formula's value in each graph; nullopt if it has no value in one of them.
  std::optional<Series> ValuesOf(const SizeExpression& formula) const;

  std::vector<const Graph*> graphs_;
  std::vector<bool> is_data_;                          // by value of the bucket's graph
  std::vector<std::vector<int64_t>> dimension_sizes_;  // in each graph, by dimension
  std::vector<std::string> dimensions_;
  GraphBuilder builder_;
  std::vector<PaddedValue> values_;
  std::vector<Size> sizes_;
  std::vector<SizeParameter> used_;
  std::set<int> mixed_;
  std::map<std::pair<std::vector<int64_t>, size_t>, ValueId> positions_;
  std::map<std::string, ValueId> numbers_;  // results of AddNumber
};

/// A node of the exact graph and of the bucket's graph, with its operands in the padded graph. The
/// node's rule replaces operands by masked operands where necessary.
class PaddedNode {
 public:
  /// Begins to pad the node with the index `number` in the exact graph and in the bucket's graph.
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

  /// Returns the common axes of operands that are broadcast against each other; omitted operands
  /// are skipped. Loose constants take the axes of the other operands where possible. The last
  /// `last` axes of each operand are left out. `with` are further axes to broadcast against.
  Result<Axes> UnifyInputs(const std::vector<size_t>& inputs, size_t last = 0, Axes with = {});
  Result<Axis> UnifyAxes(const Axis& a, const Axis& b);
  /// Replaces the elements of operand i beyond the exact positions of the open axes among `along`
  /// by `neutral`, and marks these axes as mixed. If `neutral` is 0, axes in `zero_beyond` are not
  /// masked.
  Status MaskInput(size_t i, const std::set<size_t>& along, double neutral);

  /// Checks that the attributes, except `but`, are equal in the exact graph and the bucket's graph.
  Status RequireSameAttributes(const std::set<std::string_view>& but = {}) const;
  /// Checks that axis `a` of operand `i` is fixed. Rules call RequireFixed for axes that they do
  /// not support as open axes.
  Status RequireFixed(size_t i, size_t a) const;
  std::unexpected<Error> Reject(std::string_view why) const;

  std::vector<Extents> OutputShape(size_t output = 0) const;
  Series OutputSeries(size_t axis, size_t output = 0) const;
  Series InputSeries(size_t i, size_t axis) const {
    return padder_.SeriesOf(bucket_.inputs[i], axis);
  }
  /// Returns an entry of an attribute in each graph.
  Series Entries(std::string_view name, size_t entry) const;
  std::vector<double> FloatEntries(std::string_view name, size_t entry) const;
  /// Returns a number that is an attribute, in each graph. Rejects the node if it is no integer.
  Result<Series> Integers(std::string_view name) const;
  /// Returns an axis of the output: fixed if its extent is equal in all graphs, else one open part,
  /// which is marked as mixed.
  Axis NewAxis(size_t axis, const SizeExpression& formula = {});
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
  /// Returns the outputs of a copy of the node, or the output that the rule has built. Rejects a
  /// loose operand that is not embedded.
  Result<std::vector<ValueId>> Emit();

 private:
  Padder& padder_;
  const size_t number_;
  const Node& exact_;
  const Node& bucket_;
  Status Settle(size_t i, const Axes& unified);
  Result<Axes> Broadcast(const std::vector<size_t>& inputs, size_t last, bool loose, Axes with);

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

/// Pads the constant that is node `number` (pad_constant.cc). If the constant's shape depends on
/// the sizes, the result is loose. If only its elements do, the result is a parameter, or an error
/// if there are many elements. Otherwise the result is the constant.
Result<std::vector<PaddedValue>> PadConstant(Padder& padder, size_t number);
/// Returns whether the exact constant's elements are the bucket's at these axes' exact positions.
bool IsEmbeddedIn(const Array& exact, const Array& bucket, const Axes& axes);

}  // namespace tunec::pad
