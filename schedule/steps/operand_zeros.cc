#include "schedule/steps/operand_zeros.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

bool AnyLoaded(const std::vector<IndexExpr>& all) {
  return std::ranges::any_of(all, &IndexExpr::UsesLoaded);
}

// Returns the only statement that writes the tensor. Returns nothing if none or several do.
std::optional<StatementId> OnlyWriter(const Compute& compute, TensorId id) {
  std::optional<StatementId> writer;
  for (const StatementId s : compute.statements.ids()) {
    const auto fills = [&](const Write& write) { return write.tensor == id; };
    if (std::ranges::none_of(compute.statements[s].writes, fills)) continue;
    if (writer) return std::nullopt;
    writer = s;
  }
  return writer;
}

// Checks that the iterators walk the tensor's dimensions one to one, each over the full extent.
// Conditions of the domain are ignored. A statement with several writes must write all planes; the
// first dimension then has no iterator.
bool WalksTensor(const Statement& statement, const Tensor& tensor) {
  const std::vector<IndexExpr>& index = statement.writes[0].index;
  const size_t planes = statement.writes.size() > 1 ? 1 : 0;
  if (planes > 0 && !WritesPlanes(statement, tensor)) return false;
  if (!NamesDimensions(index) || statement.iterators.size() + planes != index.size()) return false;
  for (size_t d = planes; d < index.size(); ++d) {
    const std::optional<VarId> iterator = index[d].AsVar();
    if (!iterator || statement.iterators[*iterator].extent != tensor.shape[d]) return false;
  }
  return true;
}

std::optional<StatementId> CopyInto(const Compute& compute, TensorId id) {
  const Tensor& tensor = compute.tensors[id];
  const auto shares = [&](const Tensor& other) { return other.alias == id; };
  if (tensor.role != TensorRole::kWorkspace || tensor.alias ||
      std::ranges::any_of(compute.tensors, shares)) {
    return std::nullopt;
  }
  const std::optional<StatementId> writer = OnlyWriter(compute, id);
  if (!writer) return std::nullopt;
  const Statement& copy = compute.statements[*writer];
  if (copy.reducer || copy.reads.size() != 1 || !WalksTensor(copy, tensor)) {
    return std::nullopt;
  }
  const Read& read = copy.reads[0];
  const bool zero_outside = !read.guard || read.guard->outside == 0;
  const bool plain = read.tensor != id && zero_outside && !AnyLoaded(read.index) &&
                     !AnyLoaded(ConditionsOf(read)) && !AnyLoaded(copy.domain) &&
                     std::ranges::all_of(copy.values, [](const Expr& value) {
                       return IsZero(value, {true}, OtherOperands::kAnything);
                     });
  return plain ? writer : std::nullopt;
}

// Returns the value of a finite literal, and NaN for any other expression.
double FiniteLiteral(const Expr& expr) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!expr.IsConstant()) return kNone;
  const double value =
      IsFloat(expr.type()) ? expr.node().float_value : static_cast<double>(expr.node().int_value);
  return std::isfinite(value) ? value : kNone;
}

}  // namespace

bool WritesPlanes(const Statement& statement, const Tensor& tensor) {
  if (tensor.shape.empty() || std::ssize(statement.writes) != tensor.shape[0]) return false;
  const std::vector<IndexExpr>& first = statement.writes[0].index;
  for (size_t plane = 0; plane < statement.writes.size(); ++plane) {
    const Write& write = statement.writes[plane];
    if (write.tensor != statement.writes[0].tensor) return false;
    const bool alike = std::ranges::equal(write.index.begin() + 1, write.index.end(),
                                          first.begin() + 1, first.end());
    if (!alike || write.index[0] != IndexExpr(static_cast<int64_t>(plane))) return false;
  }
  return true;
}

std::vector<IndexExpr> ConditionsOf(const Read& read) {
  return read.guard ? read.guard->nonnegative : std::vector<IndexExpr>();
}

std::vector<IndexExpr> ConditionsInside(const std::vector<IndexExpr>& index,
                                        const std::vector<int64_t>& shape,
                                        const IntervalOf& intervals) {
  std::vector<IndexExpr> inside;
  for (size_t d = 0; d < index.size(); ++d) {
    const Interval bounds = BoundsOf(index[d], intervals);
    if (bounds.lo < 0) inside.push_back(index[d]);
    if (bounds.hi >= shape[d]) inside.push_back(IndexExpr(shape[d] - 1) - index[d]);
  }
  return inside;
}

std::vector<IndexExpr> ReadOperand::NonZeroConditions() const {
  std::vector<IndexExpr> all = conditions;
  for (size_t d = 0; d < index.size(); ++d) {
    all.push_back(index[d]);
    all.push_back(IndexExpr(shape[d] - 1) - index[d]);
  }
  return all;
}

ReadOperand OperandOf(const Compute& compute, const Read& read) {
  ReadOperand operand{.index = read.index,
                      .shape = compute.tensors[read.tensor].shape,
                      .conditions = {},
                      .copy = CopyInto(compute, read.tensor)};
  if (!operand.copy) return operand;
  const Statement& copy = compute.statements[*operand.copy];
  std::vector<IndexExpr> iterator_of(copy.iterators.size());
  for (size_t d = 0; d < read.index.size(); ++d) {
    const std::optional<VarId> iterator = copy.writes[0].index[d].AsVar();
    if (iterator) iterator_of[iterator->index()] = read.index[d];
  }
  const auto through = [&](std::vector<IndexExpr> all) {
    for (IndexExpr& index : all) index = Substitute(index, iterator_of);
    return all;
  };
  operand.shape = compute.tensors[copy.reads[0].tensor].shape;
  operand.index = through(copy.reads[0].index);
  operand.conditions = through(ConditionsOf(copy.reads[0]));
  std::ranges::move(through(copy.domain), std::back_inserter(operand.conditions));
  return operand;
}

bool CoverFailures(const std::vector<IndexExpr>& conditions, const IndexExpr& condition,
                   const IntervalOf& intervals) {
  return std::ranges::any_of(conditions, [&](const IndexExpr& other) {
    return BoundsOf(Simplify(other - condition, intervals), intervals).hi <= 0;
  });
}

bool IsZero(const Expr& expr, const std::vector<bool>& zero_reads, OtherOperands others) {
  const auto is_zero = [&](const Expr& operand) { return IsZero(operand, zero_reads, others); };
  const std::vector<Expr>& operands = expr.operands();
  if (expr.IsConstant()) return expr.IsConstant(0);
  if (expr.kind() == ExprKind::kRead) return zero_reads[static_cast<size_t>(expr.node().slot)];
  const bool keeps_sign =
      expr.Is(ScalarOp::kNeg) || expr.Is(ScalarOp::kAbs) || expr.Is(ScalarOp::kSign);
  if (expr.kind() == ExprKind::kCast || keeps_sign) return is_zero(operands[0]);
  if (expr.Is(ScalarOp::kSelect)) return is_zero(operands[1]) && is_zero(operands[2]);
  if (expr.Is(ScalarOp::kMin) || expr.Is(ScalarOp::kMax)) {
    const double side = expr.Is(ScalarOp::kMin) ? 1 : -1;
    const auto is_beyond = [&](const Expr& operand) { return FiniteLiteral(operand) * side >= 0; };
    return std::ranges::any_of(operands, is_zero) &&
           std::ranges::all_of(operands, [&](const Expr& o) { return is_zero(o) || is_beyond(o); });
  }
  // 0 times an infinity is NaN.
  const bool absorbs = others == OtherOperands::kFinite || !IsFloat(expr.type());
  if (expr.Is(ScalarOp::kMul) && std::ranges::any_of(operands, is_zero)) {
    return absorbs || std::ranges::all_of(operands, [&](const Expr& o) {
             return is_zero(o) || std::isfinite(FiniteLiteral(o));
           });
  }
  const bool keeps_zero = expr.Is(ScalarOp::kAdd) || expr.Is(ScalarOp::kSub);
  return keeps_zero && std::ranges::all_of(operands, is_zero);
}

}  // namespace tunec
