// storage_order: puts a statement's loops in the storage order of the tensor that they write. The
// innermost loop becomes a vector loop, and the outermost one of several becomes parallel.
//
// Each dimension of the storage must be constant, an iterator of the statement, or a part of one: a
// quotient, a remainder, or a part between two factors. The loops over the dimensions are therefore
// the iterators' loops, split where necessary, in the order of the storage. The outermost part of a
// split loop is isolated, so that complete iterations need no conditions.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/steps/apply_loop_steps.h"
#include "schedule/steps/index_parts.h"

namespace tunec {
namespace {

std::unexpected<Error> Reject(const StorageOrderStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "storage_order {}: {}", step.statement, why);
}

// A dimension of the storage: an iterator of the statement, or a part of one.
struct Axis {
  VarId iterator;
  IndexPart part;
};

std::optional<Axis> AxisOf(const IndexExpr& index) {
  std::vector<VarId> iterators;
  index.CollectVars(iterators);
  if (iterators.empty()) return std::nullopt;
  const VarId v = iterators.front();
  std::vector<int64_t> divisors = {1};
  for (const IndexTerm& term : index.terms())
    if (term.atom.kind == IndexAtom::Kind::kFloorDiv) divisors.push_back(term.atom.divisor);
  for (const int64_t divisor : divisors) {
    for (const int64_t modulus : divisors) {
      const IndexPart part{.modulus = modulus > 1 ? modulus : 0, .divisor = divisor};
      if (index == part.Of(IndexExpr::Var(v))) return Axis{v, part};
    }
  }
  return std::nullopt;
}

// Returns the parts of an iterator in `axes`, sorted by SortParts.
std::vector<IndexPart> PartsOf(const std::vector<Axis>& axes, VarId iterator) {
  std::vector<IndexPart> parts;
  for (const Axis& axis : axes)
    if (axis.iterator == iterator) parts.push_back(axis.part);
  SortParts(parts);
  return parts;
}

// Returns the dimensions of the storage that are not constant, outermost first. Returns nothing if
// one of them is not an iterator or a part of one, or if the parts of an iterator fail AreWhole.
std::optional<std::vector<Axis>> AxesOf(const Statement& statement, const Tensor& tensor) {
  std::vector<IndexExpr> indices = statement.writes[0].index;
  if (!tensor.layout.IsRowMajor()) {
    indices = tensor.layout.map;
    for (IndexExpr& index : indices) index = Substitute(index, statement.writes[0].index);
  }
  std::vector<Axis> axes;
  for (const IndexExpr& index : indices) {
    if (index.IsConstant()) continue;
    const std::optional<Axis> axis = AxisOf(index);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  for (const VarId v : statement.iterators.ids())
    if (!AreWhole(PartsOf(axes, v))) return std::nullopt;
  return axes;
}

Result<std::vector<Axis>> FindAxes(const ScheduleTree& tree, const StorageOrderStep& step) {
  const std::optional<StatementId> id = tree.FindStatement(step.statement);
  if (!id) return Reject(step, "there is no such statement");
  const Statement& statement = tree.statements[*id];
  const TensorId written = statement.writes[0].tensor;
  const auto is_other = [&](const Write& write) { return write.tensor != written; };
  if (std::ranges::any_of(statement.writes, is_other)) {
    return Reject(step, "it writes several tensors");
  }
  std::optional<std::vector<Axis>> axes = AxesOf(statement, tree.tensors[written]);
  if (axes) return *std::move(axes);
  return Reject(step, fmt::format("its iterators are not the dimensions in which {} is stored",
                                  tree.tensors[written].name));
}

// Splits each loop whose iterator has several parts, and isolates the outermost part. Puts the
// statement's loops in the order of `axes`, and returns their names in this order.
Result<std::vector<std::string>> OrderLoops(ScheduleTree& tree, const Statement& statement,
                                            const std::vector<Axis>& axes) {
  ReorderStep order;
  for (const Axis& axis : axes) {
    std::string loop = statement.name + "." + statement.iterators[axis.iterator].name;
    const std::vector<IndexPart> parts = PartsOf(axes, axis.iterator);
    if (parts.size() > 1) {
      const auto number = std::ranges::find(parts, axis.part) - parts.begin();
      if (number == 0) {
        TUNEC_RETURN_IF_ERROR(Apply(tree, SplitStep{loop, FactorsOf(parts)}));
        TUNEC_RETURN_IF_ERROR(Apply(tree, IsolateStep{loop + ".0"}));
      }
      loop += fmt::format(".{}", number);
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
  if (loops.empty()) return {};  // one element only
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
