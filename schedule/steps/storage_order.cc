// storage_order: a statement's loops walk the tensor that it writes as that is stored.
//
// The storage's dimensions, seen through the write, are the statement's iterators: each whole, or
// as its quotient and its remainder by one factor. So the loops over them are the iterators' loops,
// or the two parts of one, in the storage's order. Quotients are isolated: where a factor does not
// divide, only the last of them carries conditions.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Refuse(const StorageOrderStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "storage_order {}: {}", step.statement, why);
}

// A dimension of the storage.
struct Axis {
  enum class Part : uint8_t { kWhole, kQuotient, kRemainder };
  VarId iterator;
  Part part = Part::kWhole;
  int64_t factor = 1;
};

std::optional<Axis> AxisOf(const IndexExpr& place) {
  std::vector<VarId> iterators;
  place.CollectVars(iterators);
  if (iterators.empty()) return std::nullopt;
  const VarId v = iterators.front();
  const IndexExpr iterator = IndexExpr::Var(v);
  if (place == iterator) return Axis{v};
  for (const IndexTerm& term : place.terms()) {
    if (term.atom.kind != IndexAtom::Kind::kFloorDiv) continue;
    const int64_t factor = term.atom.divisor;
    if (place == IndexExpr::FloorDiv(iterator, factor))
      return Axis{v, Axis::Part::kQuotient, factor};
    if (place == IndexExpr::Mod(iterator, factor)) return Axis{v, Axis::Part::kRemainder, factor};
  }
  return std::nullopt;
}

// Whether each iterator is there whole, or as both of its parts by one factor.
bool HoldEachOnce(const std::vector<Axis>& axes, size_t iterators) {
  std::vector<std::pair<VarId, int64_t>> quotients, remainders;
  for (const Axis& axis : axes) {
    // A whole one is its quotient by 1, and no more is left.
    if (axis.part != Axis::Part::kRemainder) quotients.emplace_back(axis.iterator, axis.factor);
    if (axis.part != Axis::Part::kQuotient) remainders.emplace_back(axis.iterator, axis.factor);
  }
  std::ranges::sort(quotients);
  std::ranges::sort(remainders);
  if (quotients != remainders || quotients.size() != iterators) return false;
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  return std::ranges::adjacent_find(quotients, same) == quotients.end();
}

// The dimensions of the storage, outermost first; nothing where they are not the statement's
// iterators.
std::optional<std::vector<Axis>> AxesOf(const Statement& statement, const Tensor& tensor) {
  std::vector<IndexExpr> places = statement.writes[0].index;
  if (!tensor.layout.IsRowMajor()) {
    places = tensor.layout.map;
    for (IndexExpr& place : places) place = Substitute(place, statement.writes[0].index);
  }
  std::vector<Axis> axes;
  for (const IndexExpr& place : places) {
    if (place.IsConstant()) continue;
    const std::optional<Axis> axis = AxisOf(place);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  if (!HoldEachOnce(axes, statement.iterators.size())) return std::nullopt;
  return axes;
}

Result<std::vector<Axis>> FindAxes(const ScheduleTree& tree, const StorageOrderStep& step) {
  const std::optional<StatementId> id = tree.FindStatement(step.statement);
  if (!id) return Refuse(step, "there is no such statement");
  const Statement& statement = tree.statements[*id];
  const TensorId written = statement.writes[0].tensor;
  const auto is_other = [&](const Write& write) { return write.tensor != written; };
  if (std::ranges::any_of(statement.writes, is_other)) {
    return Refuse(step, "it writes several tensors");
  }
  std::optional<std::vector<Axis>> axes = AxesOf(statement, tree.tensors[written]);
  if (axes) return *std::move(axes);
  return Refuse(step, fmt::format("its iterators are not the dimensions in which {} is stored",
                                  tree.tensors[written].name));
}

// The statement's loops, split and in the storage's order; their names.
Result<std::vector<std::string>> OrderLoops(ScheduleTree& tree, const Statement& statement,
                                            const std::vector<Axis>& axes) {
  ReorderStep order;
  for (const Axis& axis : axes) {
    std::string loop = statement.name + "." + statement.iterators[axis.iterator].name;
    if (axis.part == Axis::Part::kQuotient) {
      TUNEC_RETURN_IF_ERROR(Apply(tree, SplitStep{loop, {axis.factor}}));
      loop += ".0";
      TUNEC_RETURN_IF_ERROR(Apply(tree, IsolateStep{loop}));
    } else if (axis.part == Axis::Part::kRemainder) {
      loop += ".1";
    }
    order.loops.push_back(std::move(loop));
  }
  if (order.loops.size() > 1) TUNEC_RETURN_IF_ERROR(Apply(tree, order));
  return std::move(order.loops);
}

}  // namespace

Status Apply(ScheduleTree& tree, const StorageOrderStep& step) {
  TUNEC_ASSIGN(const std::vector<Axis> axes, FindAxes(tree, step));
  const Statement& statement = tree.statements[*tree.FindStatement(step.statement)];
  TUNEC_ASSIGN(std::vector<std::string> loops, OrderLoops(tree, statement, axes));
  if (loops.empty()) return {};  // one element
  std::string innermost = loops.back();
  TUNEC_ASSIGN(const VarId last, LoopNamed(tree, innermost));
  if (tree.loops[last].extent > step.lanes) {
    TUNEC_RETURN_IF_ERROR(Apply(tree, SplitStep{innermost, {step.lanes}}));
    TUNEC_RETURN_IF_ERROR(Apply(tree, IsolateStep{innermost + ".0"}));
    if (loops.size() == 1) loops.front() = innermost + ".0";
    innermost += ".1";
  }
  TUNEC_RETURN_IF_ERROR(Apply(tree, VectorizeStep{innermost}));
  if (loops.front() == innermost) return {};
  return Apply(tree, ParallelizeStep{loops.front()});
}

}  // namespace tunec
