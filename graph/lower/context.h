// Lowering in the tensor-expression style. Every value of a group is lazy: a function from a
// logical index to a scalar expression. Elementwise and injective operators compose such functions.
// Their values are stored if they are outputs or expensive to recompute. Reductions and
// contractions write a workspace tensor. Other statements write the outputs of the group. For
// example, convolution, bias, residual and relu become two statements.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/cost/operation_cost.h"
#include "graph/graph.h"
#include "graph/lower/lower.h"
#include "graph/lower/statement_builder.h"

namespace tunec::lower {

/// Cost limit of a value with several uses. A more expensive value is stored even within one
/// statement, because its expressions would grow too large.
inline constexpr int kExpressionLimit = 256;

/// Returns the type for computations: f32 for 16-bit floats, otherwise `type`.
DataType ComputeType(DataType type);
/// Returns the type in which sums of products of `type` accumulate.
DataType AccumulatorType(DataType type);

using Index = std::vector<IndexExpr>;

/// A value as a function that returns the expression of an element.
struct Lazy {
  DataType type = DataType::kF32;  // the graph's type; expressions have its ComputeType
  std::vector<int64_t> shape;
  int cost = 0;     // cost of recomputing an element, in the operations of operation_cost.h
  int number = -1;  // number of the value in the memo of StatementBuilder
  std::function<Expr(StatementBuilder&, const Index&)> element;
  std::optional<TensorId> tensor;  // set if the elements are those of this tensor

  /// Returns the element at `index` (one expression per dimension). Uses and extends the builder's
  /// memo.
  Expr At(StatementBuilder& builder, const Index& index) const;
  /// Returns the element at an index of a broadcast shape: dimensions align at the right, and the
  /// index is 0 in dimensions of extent 1.
  Expr Broadcast(StatementBuilder& builder, const Index& index) const;
};

/// The alternative Compute of a group to build. kDirect exists for every group. The variant kFlat
/// joins the spatial axes of suitable 1x1 convolutions. kStreaming splits attention into blocks.
/// kWinograd and kWinograd4 compute suitable 3x3 convolutions by tiles of 2x2 or 4x4 outputs.
enum class Variant { kDirect, kFlat, kStreaming, kWinograd, kWinograd4 };

/// Sizes of kStreaming. A block has `rows` rows of scores; a KV block has `chunk` columns. If
/// `ends`, a block of rows skips trailing columns that a causal mask hides from all rows of the
/// block, and leading columns that a window hides.
struct StreamingSizes {
  int64_t rows = 0;
  int64_t chunk = 0;
  bool ends = false;
};

class LowerContext {
 public:
  LowerContext(const Graph& graph, const FusionGroup& group, const FusionMachine& machine,
               Variant variant, StreamingSizes sizes = {});

  const Graph& graph() const { return graph_; }
  Variant variant() const { return variant_; }
  StreamingSizes streaming_sizes() const { return sizes_; }
  const ValueType& TypeOf(ValueId value) const { return graph_.value(value).type; }
  std::vector<int64_t> OutputShape(const Node& node) const;
  DataType OutputType(const Node& node) const;

  bool HasInput(const Node& node, size_t input) const;
  /// Returns the lazy value of the node's operand, which must be present.
  const Lazy& Input(const Node& node, size_t input) const;
  /// Returns the operand for use in several statements: stored if it is expensive.
  Lazy ReusableInput(const Node& node, size_t input);
  /// Returns an operand of a contraction as one read without a guard and without a loaded index.
  /// Other values are stored first.
  Lazy OperandInput(const Node& node, size_t input);
  /// Returns the operand's element at `index`, for a contraction that reads every element at most
  /// once for each column or channel of its result. A reduction's result, or a value that is not
  /// one plain read, is first copied to a tensor. This tensor has one dimension for each iterator
  /// that `index` uses, so that a schedule can compute the tensor inside the statement's loops.
  Expr OperandElement(StatementBuilder& builder, const Lazy& operand, const Index& index);

  Lazy Define(DataType type, std::vector<int64_t> shape, int cost,
              std::function<Expr(StatementBuilder&, const Index&)> element);
  Lazy Constant(double value, DataType type, std::vector<int64_t> shape);
  /// Returns the elements of a tensor as a lazy value.
  Lazy Stored(TensorId tensor, DataType type);
  /// Writes the value to a workspace tensor of its ComputeType and returns the tensor's value. A
  /// value that is already a read of a tensor is returned unchanged.
  Lazy Materialise(const Lazy& value, const std::string& name = "");
  /// Materialises the value only if recomputing it is expensive.
  Lazy MaterialiseIfExpensive(const Lazy& value);

  /// Adds a workspace tensor. A number is appended to a `name` that exists; "" gives t0, t1, ...
  /// The tensor takes the layout of `like`. If that is row-major or `like` is invalid, it takes the
  /// layout of a group output with the same shape, if there is one.
  TensorId AddWorkspace(std::string_view name, DataType type, std::vector<int64_t> shape,
                        ValueId like = {});
  const Tensor& tensor(TensorId id) const { return compute_.tensors[id]; }
  /// Marks a tensor that depends only on constants: it is computed once.
  void SetConstant(TensorId id) { compute_.tensors[id].constant = true; }
  /// Declares that all elements of the tensor are in the range.
  void SetRange(TensorId id, Interval range);
  StatementBuilder NewStatement() const { return StatementBuilder(compute_.tensors); }
  void Emit(Statement statement) { compute_.statements.push_back(std::move(statement)); }
  /// Finishes `builder` as `tensor[index] reducer= value` and returns the tensor's value.
  Lazy EmitReduction(StatementBuilder builder, TensorId tensor, const Index& index, Expr value,
                     Reducer reducer, DataType type);

  /// Sets the anchor: the iteration space for later statements of the same shape. A schedule can
  /// then fuse these statements into the anchor's loops.
  void SetAnchor(IterationSpace space) { anchor_ = std::move(space); }
  /// Returns the anchor's space if it has this shape, otherwise one iterator per dimension
  /// (IterationSpaceOf).
  IterationSpace SpaceFor(const std::vector<int64_t>& shape) const;

  /// Returns the output tensor of a value that is an output of the group, otherwise nullopt. It is
  /// for lowerings that write the output themselves.
  std::optional<TensorId> OutputTensor(ValueId value) const;
  /// Registers `lazy` as the graph's `value`. An output of the group is written, unless `lazy`
  /// already is the output tensor. Any other value is stored if NeedsStorage. Errors: kInternal if
  /// the shape of `lazy` is wrong.
  Status Bind(ValueId value, Lazy lazy);
  Compute Finish() &&;

 private:
  void AddArguments();
  Lazy InputValue(ValueId value, TensorId tensor);
  bool NeedsStorage(ValueId value, const Lazy& lazy) const;
  bool IsOneRead(const Lazy& value) const;
  bool IsSum(const Lazy& value) const;
  bool IsStoredForBroadcast(const Lazy& lazy, int64_t results) const;
  void WriteOutput(ValueId value, const Lazy& lazy, TensorId tensor);
  std::optional<IterationSpace> SpaceOfOutput(const Node& node) const;
  void WriteConcatPieces(const Node& node, TensorId tensor);
  std::string FreshName(std::string_view base);

  const Graph& graph_;
  const FusionGroup& group_;
  const FusionMachine& machine_;
  Variant variant_;
  StreamingSizes sizes_;
  bool is_pointwise_ = true;  // all nodes are elementwise, injective or scatters
  Compute compute_;
  std::map<ValueId, Lazy> values_;
  std::map<ValueId, TensorId> outputs_;
  std::map<ValueId, std::vector<NodeId>> users_;  // within the group
  std::optional<IterationSpace> anchor_;
  /// The anchor's loops for each value that the loops can compute, with the index of the element of
  /// one iteration.
  std::map<ValueId, IterationSpace> spaces_;
  std::map<std::string, int, std::less<>> names_;
  int next_number_ = 0;
  int next_temporary_ = 0;
};

}  // namespace tunec::lower
