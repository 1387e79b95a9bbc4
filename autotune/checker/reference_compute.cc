#include "autotune/checker/reference_compute.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "polyhedral/generate/generate.h"
#include "polyhedral/schedule_tree.h"
#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

void PromoteAll(std::vector<Expr>& exprs) {
  for (Expr& expr : exprs) expr = PromoteToFloat64(expr);
}

Expr StripCasts(const Expr& expr) {
  return expr.kind() == ExprKind::kCast ? StripCasts(expr.operands()[0]) : expr;
}

bool IsContraction(const Statement& statement) {
  if (!statement.reducer || statement.reducer->name != "sum") return false;
  if (statement.values.size() != 1 || !IsFloat(statement.values[0].type())) return false;
  const Expr body = StripCasts(statement.values[0]);
  return body.Is(ScalarOp::kMul) && body.operands()[0] != body.operands()[1];
}

// Returns a score for iterator `v` as the iterator of vector lanes. Each read adds 1 and each write
// 2 if consecutive lanes access consecutive elements or the same element.
int ContiguityOf(const Compute& compute, const Statement& statement, VarId v) {
  int score = 0;
  const auto add = [&](TensorId tensor, const std::vector<IndexExpr>& index, int weight) {
    const int64_t stride = StorageOffset(compute.tensors[tensor], index).Coefficient(v);
    if (stride == 0 || stride == 1) score += weight;
  };
  for (const Read& read : statement.reads) add(read.tensor, read.index, 1);
  for (const Write& write : statement.writes) add(write.tensor, write.index, 2);
  return score;
}

bool HasDimension(const std::vector<IndexExpr>& index, VarId v) {
  return std::ranges::any_of(index, [&](const IndexExpr& e) { return e.AsVar() == v; });
}

// Returns true if each read of a written tensor reads just the element that its instance writes.
bool ReadsOnlyItsOwn(const Statement& statement) {
  return std::ranges::all_of(statement.reads, [&](const Read& read) {
    return std::ranges::all_of(statement.writes, [&](const Write& write) {
      return read.tensor != write.tensor || (read.index == write.index && !read.guard);
    });
  });
}

// Returns the iterators whose instances are independent and that have more than one value. Every
// write has such an iterator as a whole index, so instances with different values write different
// elements. This is a proof; the declared kinds of the iterators are not used.
std::vector<VarId> IndependentIterators(const Statement& statement) {
  std::vector<VarId> found;
  if (!ReadsOnlyItsOwn(statement)) return found;
  for (const VarId v : statement.iterators.ids()) {
    const bool apart = std::ranges::all_of(
        statement.writes, [&](const Write& write) { return HasDimension(write.index, v); });
    if (apart && statement.iterators[v].extent > 1) found.push_back(v);
  }
  return found;
}

std::optional<VarId> VectorIterator(const Compute& compute, const Statement& statement,
                                    const std::vector<VarId>& independent) {
  std::optional<VarId> best;
  int64_t best_score = 0;
  for (const VarId v : independent) {
    const int64_t extent = std::min<int64_t>(statement.iterators[v].extent, 32);
    const int64_t score = (ContiguityOf(compute, statement, v) + 1) * extent;
    if (score < best_score) continue;
    best_score = score;
    best = v;
  }
  return best;
}

// Returns the dimension whose index is just `v`, if `v` is used nowhere else in `index`. Returns -1
// if v is not used, -2 if it is used otherwise.
int DimensionOf(const std::vector<IndexExpr>& index, VarId v) {
  int found = -1;
  for (size_t d = 0; d < index.size(); ++d) {
    if (!index[d].Uses(v)) continue;
    if (index[d].AsVar() != v || found != -1) return -2;
    found = static_cast<int>(d);
  }
  return found;
}

// Returns true if every access of the statement uses `v` in at most one index, which is just `v`,
// and no guard uses `v`.
bool IsSeparable(const Statement& statement, VarId v) {
  const auto guarded = [&](const Read& read) {
    if (!read.guard) return false;
    return std::ranges::any_of(read.guard->nonnegative,
                               [&](const IndexExpr& e) { return e.Uses(v); });
  };
  for (const Read& read : statement.reads) {
    if (guarded(read) || DimensionOf(read.index, v) == -2) return false;
  }
  return std::ranges::none_of(statement.writes,
                              [&](const Write& w) { return DimensionOf(w.index, v) == -2; });
}

// Returns a layout with dimension `last` innermost.
Layout LayoutWithLast(const Tensor& tensor, int last) {
  Layout layout;
  const auto add = [&](size_t d) {
    layout.shape.push_back(tensor.shape[d]);
    layout.map.push_back(IndexExpr::Var(DimensionVar(d)));
  };
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (static_cast<int>(d) != last) add(d);
  }
  add(static_cast<size_t>(last));
  return layout;
}

void ScheduleStatement(const Compute& compute, const Statement& statement,
                       std::vector<LoopStep>& steps) {
  const std::vector<VarId> independent = IndependentIterators(statement);
  const std::optional<VarId> vector = VectorIterator(compute, statement, independent);
  if (!vector) return;
  const auto loop_of = [&](VarId v) { return statement.name + "." + statement.iterators[v].name; };
  std::vector<std::string> order;
  for (const VarId v : independent) {
    if (v != *vector) order.push_back(loop_of(v));
  }
  std::string innermost = loop_of(*vector);
  if (statement.iterators[*vector].extent > kLongestVectorLoop) {
    steps.emplace_back(SplitStep{innermost, {kLongestVectorLoop}});
    // The loop over blocks of vectors is outermost, so that data read by the vectors of one block
    // stays in the caches during all other loops.
    order.insert(order.begin(), innermost + ".0");
    innermost += ".1";
  }
  const std::vector<std::string> outer = order;
  for (const VarId v : statement.iterators.ids()) {
    if (std::ranges::find(independent, v) == independent.end()) order.push_back(loop_of(v));
  }
  order.push_back(innermost);
  if (order.size() > 1) steps.emplace_back(ReorderStep{order});
  constexpr size_t kTaskLoops = 2;
  for (size_t i = 0; i < std::min(outer.size(), kTaskLoops); ++i) {
    steps.emplace_back(ParallelizeStep{outer[i]});
  }
  steps.emplace_back(VectorizeStep{innermost});
}

const std::string& NameOfSums(const Compute& compute, const Statement& sum) {
  return compute.tensors[sum.writes[0].tensor].name;
}

// Returns the statement `name`, which sums `value` over the same iterators as `sum`. Adds the
// tensor `results`, an output that the statement writes, to the compute.
Statement SumBeside(const Statement& sum, std::string name, std::string results, const Expr& value,
                    Compute& compute) {
  Statement beside = sum;
  Tensor tensor = compute.tensors[sum.writes[0].tensor];
  tensor.name = std::move(results);
  tensor.role = TensorRole::kOutput;
  tensor.layout = {};
  tensor.alias.reset();
  beside.name = std::move(name);
  beside.writes[0].tensor = compute.tensors.next_id();
  beside.values[0] = value;
  compute.tensors.push_back(std::move(tensor));
  return beside;
}

}  // namespace

Compute WithoutLayouts(const Compute& compute) {
  Compute plain = compute;
  for (Tensor& tensor : plain.tensors) {
    tensor.layout = {};
    tensor.alias.reset();
    tensor.alignment = 0;
  }
  return plain;
}

Compute WithContiguousIterator(const Compute& compute) {
  Compute result = compute;
  if (compute.statements.empty()) return result;
  const Statement& heaviest = *std::ranges::max_element(compute.statements, {}, CountInstances);
  std::optional<VarId> best;
  for (const VarId v : IndependentIterators(heaviest)) {
    if (!IsSeparable(heaviest, v)) continue;
    const auto extent = [&](VarId i) { return heaviest.iterators[i].extent; };
    if (!best || extent(v) >= extent(*best)) best = v;
  }
  if (!best) return result;
  const auto set_layout = [&](TensorId id, const std::vector<IndexExpr>& index) {
    Tensor& tensor = result.tensors[id];
    const int dimension = DimensionOf(index, *best);
    if (dimension >= 0 && tensor.layout.IsRowMajor()) {
      tensor.layout = LayoutWithLast(tensor, dimension);
    }
  };
  for (const Read& read : heaviest.reads) set_layout(read.tensor, read.index);
  for (const Write& write : heaviest.writes) set_layout(write.tensor, write.index);
  return result;
}

Expr PromoteToFloat64(const Expr& expr) {
  return Transform(expr, [](const Expr& node) {
    if (!IsFloat(node.type())) return node;
    const DataType wide = DataType::kF64;
    const ExprNode& n = node.node();
    switch (node.kind()) {
      case ExprKind::kConstant:
        return Expr::Constant(n.float_value, wide);
      case ExprKind::kRead:
        return Expr::Read(n.slot, wide);
      case ExprKind::kAccumulator:
        return Expr::Accumulator(n.slot, wide);
      case ExprKind::kIncoming:
        return Expr::Incoming(n.slot, wide);
      case ExprKind::kIndex:
        return Expr::Index(n.index[0], wide);
      case ExprKind::kCast:
        return Expr::Cast(node.operands()[0], wide);
      case ExprKind::kHolds:
      case ExprKind::kApply:
        return node;
    }
    return node;
  });
}

Compute PromoteToFloat64(const Compute& compute) {
  Compute wide = WithoutLayouts(compute);
  for (Tensor& tensor : wide.tensors) {
    if (IsFloat(tensor.type)) tensor.type = DataType::kF64;
  }
  for (Statement& statement : wide.statements) {
    PromoteAll(statement.values);
    if (!statement.reducer) continue;
    PromoteAll(statement.reducer->identity);
    PromoteAll(statement.reducer->combine);
    PromoteAll(statement.reducer->finalise);
  }
  return wide;
}

std::optional<StatementId> LastContraction(const Compute& compute) {
  for (size_t s = compute.statements.size(); s-- > 0;) {
    const StatementId id(s);
    if (IsContraction(compute.statements[id])) return id;
  }
  return std::nullopt;
}

std::string MagnitudeTensor(const std::string& sums) { return sums + ".magnitude"; }

Compute WithMagnitudes(const Compute& compute, const std::vector<StatementId>& sums) {
  Compute result = compute;
  result.statements.clear();
  for (const StatementId s : compute.statements.ids()) {
    const Statement& sum = compute.statements[s];
    result.statements.push_back(sum);
    if (std::ranges::find(sums, s) == sums.end()) continue;
    const Expr magnitude = Unary(ScalarOp::kAbs, sum.values[0]);
    result.statements.push_back(SumBeside(sum, MagnitudeTensor(sum.name),
                                          MagnitudeTensor(NameOfSums(compute, sum)), magnitude,
                                          result));
  }
  return result;
}

std::string SquaresTensor(const std::string& sums) { return sums + ".squares"; }

Compute WithSquares(const Compute& compute, StatementId id) {
  Compute result = compute;
  const Statement& sum = compute.statements[id];
  const Expr square = sum.values[0] * sum.values[0];
  Statement squares = SumBeside(sum, SquaresTensor(sum.name),
                                SquaresTensor(NameOfSums(compute, sum)), square, result);
  result.statements.insert(id.next(), std::move(squares));
  return result;
}

Result<LoopNest> PlainLoops(const Compute& compute, Contraction contraction) {
  ScheduleTree tree = OriginalTree(compute);
  for (const LoopStep& step : PlainSchedule(compute).loop_steps) {
    TUNEC_RETURN_IF_ERROR(
        std::visit([&](const auto& of_kind) { return Apply(tree, of_kind); }, step));
  }
  return GenerateLoops(tree, contraction);
}

Schedule PlainSchedule(const Compute& compute) {
  Schedule schedule;
  for (const Statement& statement : ExpandReductions(compute)) {
    ScheduleStatement(compute, statement, schedule.loop_steps);
  }
  return schedule;
}

}  // namespace tunec
