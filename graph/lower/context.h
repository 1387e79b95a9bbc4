// Lowering in the tensor-expression style: every value of a group is lazy, a function from
// a logical index to a scalar expression. Elementwise and injective operators compose such
// functions and never become statements; reductions and contractions write a workspace
// tensor; the group's outputs end in a plain statement. So convolution, bias, residual and
// relu are two statements.
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

/// Above this a value with several uses is stored even within one statement: each use doubles
/// the expression.
inline constexpr int kExpressionLimit = 256;

/// 16-bit floats are computed in f32 and rounded where they are stored.
DataType ComputeType(DataType type);
/// What sums of products of this type accumulate in.
DataType AccumulatorType(DataType type);

using Index = std::vector<IndexExpr>;

/// A value not yet stored anywhere. Copies share the function.
struct Lazy {
  DataType type = DataType::kF32;  // the graph's; expressions have its ComputeType
  std::vector<int64_t> shape;
  int cost = 0;     // of computing an element again, in the operations of operation_cost.h
  int number = -1;  // for StatementBuilder::memo
  std::function<Expr(StatementBuilder&, const Index&)> element;
  std::optional<TensorId> tensor;  // its elements are simply those of this tensor

  /// The element at `index` (one expression per dimension). Equal questions get one answer.
  Expr At(StatementBuilder& builder, const Index& index) const;
  /// `index` may be of a broadcast shape: aligned at the right, 0 along extents 1.
  Expr Broadcast(StatementBuilder& builder, const Index& index) const;
};

/// Which alternative Compute of a group is being built.
/// kWinograd, kWinograd4: 3x3 convolutions by tiles of 2x2 or 4x4 outputs.
enum class Variant { kDirect, kFlat, kStreaming, kWinograd, kWinograd4 };

/// kStreaming: how many rows of scores make a block, how many of their columns a chunk, and whether
/// a block's columns end where a causal mask hides the rest of them from all its rows.
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
  /// The lazy value of the node's operand, which is present.
  const Lazy& Input(const Node& node, size_t input) const;
  /// Safe to use in several statements: stored if it is expensive.
  Lazy ReusableInput(const Node& node, size_t input);
  /// As an operand of a contraction: one unguarded affine read, stored first if it is more.
  Lazy OperandInput(const Node& node, size_t input);
  /// The operand's element at `index` for a contraction that reads every element at most once for
  /// each of its results: what is more than one read, or a sum, is stored first, as the statement
  /// walks it (a dimension for each iterator), so that a schedule can compute it inside the
  /// statement's loops.
  Expr OperandElement(StatementBuilder& builder, const Lazy& operand, const Index& index);

  Lazy Define(DataType type, std::vector<int64_t> shape, int cost,
              std::function<Expr(StatementBuilder&, const Index&)> element);
  Lazy Constant(double value, DataType type, std::vector<int64_t> shape);
  /// The elements of a tensor.
  Lazy Stored(TensorId tensor, DataType type);
  /// Writes the value to a workspace tensor (in its ComputeType) and returns that.
  Lazy Materialise(const Lazy& value, const std::string& name = "");
  /// The same, when computing it again is expensive.
  Lazy Reusable(const Lazy& value);

  /// A new workspace tensor; `name` gets a number when it is taken, "" gives t0, t1, ...
  /// It takes the layout of `like`, else of a group output with the same shape.
  TensorId AddWorkspace(std::string_view name, DataType type, std::vector<int64_t> shape,
                        ValueId like = {});
  const Tensor& tensor(TensorId id) const { return compute_.tensors[id]; }
  /// What the tensor holds is known as soon as the constants are: it is computed once.
  void SetConstant(TensorId id) { compute_.tensors[id].constant = true; }
  /// All elements lie in the range, too.
  void SetRange(TensorId id, Interval range);
  StatementBuilder NewStatement() const { return StatementBuilder(compute_.tensors); }
  void Emit(Statement statement) { compute_.statements.push_back(std::move(statement)); }
  /// Finishes `builder` as `tensor[index] reducer= value` and returns the tensor's value.
  Lazy EmitReduction(StatementBuilder builder, TensorId tensor, const Index& index, Expr value,
                     Reducer reducer, DataType type);

  /// The space that later statements of the same shape iterate, so that a schedule can put
  /// them into the contraction's loops.
  void SetAnchor(IterationSpace space) { anchor_ = std::move(space); }
  /// The anchor if it has this shape, else a box.
  IterationSpace SpaceFor(const std::vector<int64_t>& shape) const;

  /// Where the value is to be written, if it is an output of the group: for lowerings that write it
  /// themselves.
  std::optional<TensorId> OutputTensor(ValueId value) const;
  /// Makes `value` known as the node's output; outputs of the group are written, unless `lazy` is
  /// what lies there.
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
  std::string FreshName(std::string_view wanted);

  const Graph& graph_;
  const FusionGroup& group_;
  const FusionMachine& machine_;
  Variant variant_;
  StreamingSizes sizes_;
  bool is_pointwise_ = true;  // no reduction or contraction in the group
  Compute compute_;
  std::map<ValueId, Lazy> values_;
  std::map<ValueId, TensorId> outputs_;
  std::map<ValueId, std::vector<NodeId>> users_;  // within the group
  std::optional<IterationSpace> anchor_;
  /// Of values that the anchor's loops can compute: where each instance's element lies.
  std::map<ValueId, IterationSpace> spaces_;
  std::map<std::string, int, std::less<>> names_;
  int next_number_ = 0;
  int next_temporary_ = 0;
};

}  // namespace tunec::lower
