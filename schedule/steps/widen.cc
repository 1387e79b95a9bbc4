// widen: casts an operand to a wider type once instead of at each use.
//
// An argument gets a copy of the wider type just before the statement that the step names. The copy
// of a constant weight is made at compile time. A workspace tensor changes its type: values written
// into the tensor are rounded to the narrow type as before, then cast.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Reject(const WidenStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "widen {}: {}", step.tensor, why);
}

bool IsReadOf(const Expr& expr, const Statement& statement, TensorId tensor) {
  return expr.kind() == ExprKind::kRead &&
         statement.reads[static_cast<size_t>(expr.node().slot)].tensor == tensor;
}

/// Returns the type to which all reads of the tensor are cast. Returns nothing if the types differ,
/// a read is not cast, or there is no read.
std::optional<DataType> CastType(const Statement& statement, TensorId tensor) {
  std::optional<DataType> type;
  int reads = 0;
  int casts = 0;
  for (const Expr& value : statement.values) {
    Visit(value, [&](const Expr& expr) {
      if (IsReadOf(expr, statement, tensor)) ++reads;
      if (expr.kind() != ExprKind::kCast || !IsReadOf(expr.operands()[0], statement, tensor))
        return;
      if (!type || *type == expr.type()) ++casts;
      type = expr.type();
    });
  }
  return reads > 0 && reads == casts ? type : std::nullopt;
}

bool Reads(const Statement& statement, TensorId tensor) {
  return std::ranges::any_of(statement.reads,
                             [&](const Read& read) { return read.tensor == tensor; });
}

bool LoadsIndices(const Statement& statement) {
  const auto loads = [](const IndexExpr& index) { return index.UsesLoaded(); };
  return std::ranges::any_of(
      statement.reads, [&](const Read& read) { return std::ranges::any_of(read.index, loads); });
}

/// Checks that the tensor's guarded reads have the value 0 outside. This value is rounded to the
/// tensor's type, and the rounding does not change 0.
bool HasZeroOutside(const Statement& statement, TensorId tensor) {
  return std::ranges::all_of(statement.reads, [&](const Read& read) {
    return read.tensor != tensor || !read.guard || read.guard->outside == 0;
  });
}

/// Replaces casts of reads of `tensor` to `type` by reads of this type.
void DropCasts(Statement& statement, TensorId tensor, DataType type) {
  for (Expr& value : statement.values) {
    value = Transform(value, [&](const Expr& expr) {
      const bool drops = expr.kind() == ExprKind::kCast && expr.type() == type &&
                         IsReadOf(expr.operands()[0], statement, tensor);
      return drops ? Expr::Read(expr.operands()[0].node().slot, type) : expr;
    });
  }
}

Result<Compute> WidenWorkspace(const Compute& compute, const WidenStep& step, TensorId id,
                               StatementId reader, DataType type) {
  const Tensor& tensor = compute.tensors[id];
  const bool shares =
      tensor.alias ||
      std::ranges::any_of(compute.tensors, [&](const Tensor& other) { return other.alias == id; });
  if (shares) return Reject(step, "it shares its storage with another tensor");
  Compute result = compute;
  for (const StatementId s : compute.statements.ids()) {
    Statement& statement = result.statements[s];
    if (s != reader && Reads(statement, id)) {
      return Reject(step, fmt::format("{} reads it too", statement.name));
    }
    for (size_t w = 0; w < statement.writes.size(); ++w) {
      if (statement.writes[w].tensor != id) continue;
      if (statement.reducer) return Reject(step, fmt::format("{} reduces into it", statement.name));
      statement.values[w] = Expr::Cast(statement.values[w], type);
    }
  }
  DropCasts(result.statements[reader], id, type);
  result.tensors[id].type = type;
  return result;
}

/// Returns the wide copy of the argument, in the argument's layout. The copy of a constant weight
/// is row-major instead; a later `pack` step can change its layout.
Tensor WideCopy(const Tensor& source, DataType type) {
  const bool constant = source.constant && source.role == TensorRole::kWeight;
  Tensor copy{.name = source.name + ".wide",
              .type = type,
              .shape = source.shape,
              .role = TensorRole::kWorkspace,
              .constant = constant,
              .finite = source.finite,
              .alignment = 64};
  if (!constant) copy.layout = source.layout;
  copy.range = source.range;
  return copy;
}

/// Returns the dimensions in storage order, outermost first. If the layout is not a permutation of
/// the dimensions, returns their logical order.
std::vector<size_t> StorageOrder(const Tensor& tensor) {
  std::vector<size_t> order;
  for (const IndexExpr& index : tensor.layout.map) {
    const std::optional<VarId> dimension = index.AsVar();
    if (dimension) order.push_back(dimension->index());
  }
  if (order.size() == tensor.shape.size() && NamesDimensions(tensor.layout.map)) return order;
  order.resize(tensor.shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

/// Returns the statement T.wide = cast(T) for each element, in the order of StorageOrder.
Statement WideningStatement(const Tensor& source, TensorId from, const Tensor& copy, TensorId to) {
  Statement statement{.name = copy.name};
  std::vector<IndexExpr> index = AddElementIterators(copy.shape, statement);
  const Iterators logical = statement.iterators;
  const std::vector<size_t> order = StorageOrder(copy);
  for (size_t i = 0; i < order.size(); ++i) {
    const VarId iterator = IteratorVar(i);
    statement.iterators[iterator] = logical[IteratorVar(order[i])];
    index[order[i]] = IndexExpr::Var(iterator);
  }
  statement.reads.push_back({from, index, {}});
  statement.writes.push_back({to, index});
  statement.values.push_back(Expr::Cast(Expr::Read(0, source.type), copy.type));
  return statement;
}

Result<Compute> WidenArgument(const Compute& compute, const WidenStep& step, TensorId source,
                              StatementId reader, DataType type) {
  Compute result = compute;
  const TensorId id = result.tensors.next_id();
  const Tensor copy = WideCopy(compute.tensors[source], type);
  if (compute.FindTensor(copy.name) || compute.FindStatement(copy.name)) {
    return Reject(step, fmt::format("there is {} already", copy.name));
  }
  Statement& statement = result.statements[reader];
  DropCasts(statement, source, type);
  for (Read& read : statement.reads) {
    if (read.tensor == source) read.tensor = id;
  }
  Statement widening = WideningStatement(compute.tensors[source], source, copy, id);
  result.tensors.push_back(copy);
  result.statements.insert(reader, std::move(widening));
  return result;
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const WidenStep& step) {
  const std::optional<TensorId> source = compute.FindTensor(step.tensor);
  const std::optional<StatementId> reader = compute.FindStatement(step.statement);
  if (!source || !reader) return Reject(step, "there is no such tensor or statement");
  const Statement& statement = compute.statements[*reader];
  const Tensor& tensor = compute.tensors[*source];
  const std::optional<DataType> type = CastType(statement, *source);
  if (!type || SizeOf(*type) <= SizeOf(tensor.type)) {
    return Reject(step, fmt::format("{} does not read it cast to one wider type", step.statement));
  }
  if (LoadsIndices(statement)) {
    return Reject(step, fmt::format("{} loads indices", step.statement));
  }
  if (!HasZeroOutside(statement, *source)) {
    return Reject(step, "its value outside of a guard is not 0");
  }
  if (IsMadeOfConstant(compute, statement)) {
    return Reject(step, fmt::format("{} runs at compile time", step.statement));
  }
  switch (tensor.role) {
    case TensorRole::kInput:
    case TensorRole::kWeight:
      return WidenArgument(compute, step, *source, *reader, *type);
    case TensorRole::kWorkspace:
      return WidenWorkspace(compute, step, *source, *reader, *type);
    default:
      return Reject(step, "only arguments that are read, and workspace, can be widened");
  }
}

}  // namespace tunec
