#include "graph/lower/context.h"

#include <algorithm>

#include "graph/cost/fuse_cost.h"
#include "graph/ops/index_maps.h"
#include "support/check.h"

namespace tunec::lower {
namespace {

// Limits for broadcasts. A value is stored for a broadcast only if the result has at least
// kBroadcastFactor times the value's elements, and the cost of an element exceeds kBroadcastLimit.
constexpr int64_t kBroadcastFactor = 4;
constexpr int kBroadcastLimit = 2;

}  // namespace

LowerContext::LowerContext(const Graph& graph, const FusionGroup& group,
                           const FusionMachine& machine, Variant variant, StreamingSizes sizes)
    : graph_(graph), group_(group), machine_(machine), variant_(variant), sizes_(sizes) {
  for (const NodeId id : group.nodes) {
    const OpPattern pattern = PatternOf(graph.node(id).op);
    is_pointwise_ &= pattern == OpPattern::kElementwise || pattern == OpPattern::kInjective ||
                     pattern == OpPattern::kScatter;
    for (const ValueId input : graph.node(id).inputs)
      if (input.valid()) users_[input].push_back(id);
  }
  AddArguments();
}

void LowerContext::AddArguments() {
  const auto add = [&](std::string name, ValueId value, TensorRole role) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.type = StoredTypeOf(graph_, group_.stored, value);
    tensor.shape = TypeOf(value).Shape();
    tensor.role = role;
    tensor.constant = role == TensorRole::kWeight;
    const auto stored = group_.layouts.find(value);
    tensor.layout = stored == group_.layouts.end() ? graph_.value(value).layout : stored->second;
    return compute_.tensors.push_back(std::move(tensor));
  };
  for (size_t i = 0; i < group_.inputs.size(); ++i) {
    const ValueId value = group_.inputs[i];
    const bool constant = graph_.ConstantOf(value) != nullptr;
    const TensorId id = add((constant ? "w" : "in") + std::to_string(i), value,
                            constant ? TensorRole::kWeight : TensorRole::kInput);
    values_.insert_or_assign(value, InputValue(value, id));
  }
  for (size_t i = 0; i < group_.outputs.size(); ++i)
    outputs_[group_.outputs[i]] =
        add("out" + std::to_string(i), group_.outputs[i], TensorRole::kOutput);
}

// Returns an input as a lazy value. A constant of one element becomes a literal, so that x * 0.125
// and pow(x, 2) can be recognised. The tensor stays an argument, because arguments are the group's
// inputs.
Lazy LowerContext::InputValue(ValueId value, TensorId tensor) {
  const DataType type = TypeOf(value).type;
  const Array* constant = graph_.ConstantOf(value);
  if (constant == nullptr || constant->size() != 1) return Stored(tensor, type);
  Expr literal = IsFloat(type) ? Expr::Constant(constant->GetDouble(0), ComputeType(type))
                               : Expr::Constant(constant->GetInt(0), type);
  Lazy lazy = Define(type, TypeOf(value).Shape(), 0,
                     [literal](StatementBuilder&, const Index&) { return literal; });
  lazy.tensor = tensor;
  return lazy;
}

std::vector<int64_t> LowerContext::OutputShape(const Node& node) const {
  return TypeOf(node.outputs[0]).Shape();
}

DataType LowerContext::OutputType(const Node& node) const { return TypeOf(node.outputs[0]).type; }

bool LowerContext::HasInput(const Node& node, size_t input) const {
  return input < node.inputs.size() && node.inputs[input].valid();
}

const Lazy& LowerContext::Input(const Node& node, size_t input) const {
  TUNEC_CHECK(HasInput(node, input), "'{}' lacks operand {}", node.name, input);
  const auto at = values_.find(node.inputs[input]);
  TUNEC_CHECK(at != values_.end(), "operand {} of '{}' is not in the group", input, node.name);
  return at->second;
}

Lazy LowerContext::ReusableInput(const Node& node, size_t input) {
  return MaterialiseIfExpensive(Input(node, input));
}

Lazy LowerContext::MaterialiseIfExpensive(const Lazy& value) {
  return value.cost > kRecomputeLimit ? Materialise(value) : value;
}

bool LowerContext::IsOneRead(const Lazy& value) const {
  StatementBuilder trial = NewStatement();
  const Index index = trial.AddSpace(IterationSpaceOf(value.shape));
  Expr element = value.At(trial, index);
  while (element.kind() == ExprKind::kCast) element = element.operands()[0];
  if (element.kind() != ExprKind::kRead) return false;
  const Read& read = trial.reads()[element.node().slot];
  return !read.guard && std::ranges::none_of(read.index, &IndexExpr::UsesLoaded);
}

bool LowerContext::IsSum(const Lazy& value) const {
  return value.tensor && std::ranges::any_of(compute_.statements, [&](const Statement& statement) {
           return statement.reducer && statement.writes[0].tensor == *value.tensor;
         });
}

Lazy LowerContext::OperandInput(const Node& node, size_t input) {
  const Lazy& value = Input(node, input);
  if (value.tensor) return Stored(*value.tensor, value.type);
  return IsOneRead(value) ? value : Materialise(value);
}

Expr LowerContext::OperandElement(StatementBuilder& builder, const Lazy& operand,
                                  const Index& index) {
  if (!IsSum(operand)) {
    if (operand.tensor) return Stored(*operand.tensor, operand.type).At(builder, index);
    if (IsOneRead(operand)) return operand.At(builder, index);
  }
  const IterationSpace space = builder.SpaceOf(index);
  std::vector<int64_t> shape;
  Index own;
  for (const Iterator& iterator : space.iterators) {
    own.push_back(IndexExpr::Var(IteratorVar(shape.size())));
    shape.push_back(iterator.extent);
  }
  const TensorId id = AddWorkspace("operand", ComputeType(operand.type), shape);
  StatementBuilder copy = NewStatement();
  const Index element = copy.AddSpace(space);
  const Expr value = operand.At(copy, element);
  Emit(std::move(copy).Build(tensor(id).name, Write{id, own}, value));
  return builder.ReadTensor(id, builder.IteratorsOf(index));
}

Lazy LowerContext::Define(DataType type, std::vector<int64_t> shape, int cost,
                          std::function<Expr(StatementBuilder&, const Index&)> element) {
  return Lazy{.type = type,
              .shape = std::move(shape),
              .cost = cost,
              .number = next_number_++,
              .element = std::move(element),
              .tensor = {}};
}

Lazy LowerContext::Constant(double value, DataType type, std::vector<int64_t> shape) {
  return Define(type, std::move(shape), 0, [value, type](StatementBuilder&, const Index&) {
    return Expr::Constant(value, ComputeType(type));
  });
}

Lazy LowerContext::Stored(TensorId id, DataType type) {
  Lazy lazy = Define(type, tensor(id).shape, kReadCost,
                     [id, type](StatementBuilder& builder, const Index& index) {
                       return Expr::Cast(builder.ReadTensor(id, index), ComputeType(type));
                     });
  lazy.tensor = id;
  return lazy;
}

Lazy LowerContext::Materialise(const Lazy& value, const std::string& name) {
  if (value.tensor && value.cost > 0) return value;
  const TensorId id = AddWorkspace(name, ComputeType(value.type), value.shape);
  StatementBuilder builder = NewStatement();
  const Index index = builder.AddSpace(SpaceFor(value.shape));
  const Expr element = value.At(builder, index);
  Emit(std::move(builder).Build(tensor(id).name, Write{id, index}, element));
  return Stored(id, value.type);
}

std::string LowerContext::FreshName(std::string_view base) {
  if (base.empty()) return "t" + std::to_string(next_temporary_++);
  const int uses = names_[std::string(base)]++;
  return std::string(base) + (uses == 0 ? "" : std::to_string(uses));
}

TensorId LowerContext::AddWorkspace(std::string_view name, DataType type,
                                    std::vector<int64_t> shape, ValueId like) {
  Tensor tensor;
  tensor.name = FreshName(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  if (like.valid()) tensor.layout = graph_.value(like).layout;
  for (const ValueId output : group_.outputs)
    if (tensor.layout.IsRowMajor() && TypeOf(output).Shape() == tensor.shape)
      tensor.layout = graph_.value(output).layout;
  return compute_.tensors.push_back(std::move(tensor));
}

void LowerContext::SetRange(TensorId id, Interval range) {
  const Interval known = tensor(id).range.value_or(range);
  compute_.tensors[id].range = {std::max(known.lo, range.lo), std::min(known.hi, range.hi)};
}

Lazy LowerContext::EmitReduction(StatementBuilder builder, TensorId id, const Index& index,
                                 Expr value, Reducer reducer, DataType type) {
  value = Expr::Cast(std::move(value), tensor(id).type);
  Emit(std::move(builder).Build(tensor(id).name, Write{id, index}, value, std::move(reducer)));
  return Stored(id, type);
}

IterationSpace LowerContext::SpaceFor(const std::vector<int64_t>& shape) const {
  return anchor_ && anchor_->shape == shape ? *anchor_ : IterationSpaceOf(shape);
}

// Returns whether a value is stored before a broadcast to `results` elements. In a group that is
// not pointwise, storing is nearly free, because other loops can do it. Otherwise storing needs a
// separate phase of the kernel.
bool LowerContext::IsStoredForBroadcast(const Lazy& lazy, int64_t results) const {
  const int64_t elements = ElementCount(lazy.shape);
  if (lazy.cost <= kBroadcastLimit || results < kBroadcastFactor * elements) return false;
  if (!is_pointwise_) return true;
  const int64_t bytes = elements * static_cast<int64_t>(SizeOf(lazy.type));
  const double again = static_cast<double>(results - elements) * lazy.cost;
  const FusionCost cost{.bytes_saved = 2 * bytes, .launches_saved = 1, .operations_added = again};
  return SecondsSaved(cost, machine_) < 0;
}

bool LowerContext::NeedsStorage(ValueId value, const Lazy& lazy) const {
  const auto at = users_.find(value);
  if (lazy.tensor || at == users_.end()) return false;
  const std::vector<NodeId>& users = at->second;
  const auto broadcasts = [&](NodeId user) {
    return IsStoredForBroadcast(lazy, ElementCount(OutputShape(graph_.node(user))));
  };
  if (std::ranges::any_of(users, broadcasts)) return true;
  if (users.size() < 2) return false;
  if (lazy.cost > kExpressionLimit) return true;
  const auto makes_statement = [&](NodeId user) {
    const OpPattern pattern = PatternOf(graph_.node(user).op);
    return pattern != OpPattern::kElementwise && pattern != OpPattern::kInjective;
  };
  return lazy.cost > kRecomputeLimit && std::ranges::any_of(users, makes_statement);
}

std::optional<TensorId> LowerContext::OutputTensor(ValueId value) const {
  const auto output = outputs_.find(value);
  return output == outputs_.end() ? std::nullopt : std::optional(output->second);
}

Status LowerContext::Bind(ValueId value, Lazy lazy) {
  if (lazy.shape != TypeOf(value).Shape())
    return Fail(ErrorCode::kInternal, "lowering gave '{}' another shape than its type has",
                graph_.value(value).name);
  if (std::optional<IterationSpace> space = SpaceOfOutput(graph_.producer(value)))
    spaces_.insert_or_assign(value, *std::move(space));
  if (const auto output = outputs_.find(value); output != outputs_.end()) {
    if (lazy.tensor != output->second) WriteOutput(value, lazy, output->second);
    lazy = Stored(output->second, lazy.type);
  } else if (NeedsStorage(value, lazy)) {
    lazy = Materialise(lazy);
  }
  values_.insert_or_assign(value, std::move(lazy));
  return {};
}

// Returns the anchor's loops with the index at which they can write the node's output. Elementwise
// operators keep the index of an operand; transposes and reshapes map it. The output of any other
// operator needs the anchor's shape. Returns nullopt if there is no such index. A map that makes an
// affine index not affine is rejected.
std::optional<IterationSpace> LowerContext::SpaceOfOutput(const Node& node) const {
  const std::vector<int64_t> shape = OutputShape(node);
  const bool renames = node.op == Op::kTranspose || node.op == Op::kReshape;
  if (!renames && PatternOf(node.op) != OpPattern::kElementwise)
    return anchor_ && anchor_->shape == shape ? anchor_ : std::nullopt;
  for (const ValueId input : node.inputs) {
    const auto known = spaces_.find(input);
    if (known == spaces_.end()) continue;
    IterationSpace space = known->second;
    if (!renames && space.shape != shape) continue;
    if (node.op == Op::kTranspose) space.index = Permute(space.index, node.Ints("perm"));
    if (node.op == Op::kReshape) space.index = ReshapeIndex(space.index, space.shape, shape);
    space.shape = shape;
    const auto interval = [&](VarId v) { return Interval{0, space.iterators[v].extent - 1}; };
    for (IndexExpr& e : space.index) e = Simplify(e, interval);
    if (!IsAffine(space.index) && IsAffine(known->second.index)) continue;
    return space;
  }
  return {};
}

void LowerContext::WriteOutput(ValueId value, const Lazy& lazy, TensorId id) {
  const Node& node = graph_.producer(value);
  // A concatenation without elements has no pieces, but its output must still be written.
  if (node.op == Op::kConcat && !lazy.tensor && ElementCount(lazy.shape) > 0)
    return WriteConcatPieces(node, id);
  const auto space = spaces_.find(value);
  StatementBuilder builder = NewStatement();
  const Index index =
      builder.AddSpace(space == spaces_.end() ? IterationSpaceOf(lazy.shape) : space->second);
  const Expr element = Expr::Cast(lazy.At(builder, index), tensor(id).type);
  Emit(std::move(builder).Build(tensor(id).name, Write{id, index}, element));
}

// Writes each non-empty operand of a concatenation by a separate statement, without selections.
void LowerContext::WriteConcatPieces(const Node& node, TensorId id) {
  const std::vector<int64_t> shape = tensor(id).shape;
  const int64_t axis = node.Int("axis");
  int64_t offset = 0;
  int written = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Lazy& piece = Input(node, i);
    if (ElementCount(piece.shape) > 0) {
      StatementBuilder builder = NewStatement();
      const Index from = builder.AddSpace(SpaceFor(piece.shape));
      Index to = from;
      to[axis] += offset;
      const Expr element = Expr::Cast(piece.At(builder, from), tensor(id).type);
      const std::string suffix = written++ == 0 ? "" : "_" + std::to_string(i);
      Emit(std::move(builder).Build(tensor(id).name + suffix, Write{id, to}, element));
    }
    offset += piece.shape[axis];
  }
}

Compute LowerContext::Finish() && { return std::move(compute_); }

}  // namespace tunec::lower
