#include "polyhedral/legality/instances.h"

#include <algorithm>

#include "polyhedral/isl_handles.h"
#include "polyhedral/relations.h"
#include "support/check.h"

namespace tunec {
namespace {

// The claim that all expressions of `never` are negative for all instances, and the text of the
// failure.
struct Claim {
  std::vector<IndexExpr> never;
  std::string failure;
};

// Returns true only if the value is floor(n/d) mod m with m <= extent, as for the inner loops of a
// split. This remainder equals floor(n/d) - m*floor(n/(d*m)). BoundsOf does not find the exact
// bounds of every such difference.
bool IsRemainderWithin(const IndexExpr& value, int64_t extent) {
  return std::ranges::any_of(value.terms(), [&](const IndexTerm& term) {
    const int64_t modulus = -term.coefficient;
    if (term.atom.kind != IndexAtom::Kind::kFloorDiv || modulus < 1 || modulus > extent ||
        term.atom.divisor % modulus != 0) {
      return false;
    }
    const IndexExpr& numerator = *term.atom.numerator;
    const IndexExpr coarse = IndexExpr::FloorDiv(numerator, term.atom.divisor);
    return value + coarse * modulus == IndexExpr::FloorDiv(numerator, term.atom.divisor / modulus);
  });
}

Status Expect(const ScheduleTree& tree, StatementId id, const Claim& claim, isl_ctx* ctx) {
  const Statement& statement = tree.statements[id];
  std::vector<IndexExpr> open;
  for (const IndexExpr& condition : claim.never) {
    if (BoundsOf(Simplify(condition, statement.Intervals()), statement.Intervals()).hi >= 0) {
      open.push_back(condition);
    }
  }
  if (open.empty()) return {};
  const std::string text = AnyOfText(id, statement, open);
  const isl::Set failing(isl_set_read_from_str(ctx, text.c_str()));
  const isl_bool empty = failing.ok() ? isl_set_is_empty(failing.get()) : isl_bool_error;
  if (empty == isl_bool_true) return {};
  if (empty == isl_bool_error) {
    return isl::Failure(ctx, "legality");
  }
  return Fail(ErrorCode::kIllegalSchedule, "not every instance of {} would run: {}", statement.name,
              claim.failure);
}

Status CheckStatement(const ScheduleTree& tree, StatementId id, isl_ctx* ctx) {
  const Statement& statement = tree.statements[id];
  const auto& forward = tree.forward[id];
  const std::vector<VarId> around = LoopsAround(tree.root, id);
  TUNEC_CHECK(around.size() == forward.size(), "statement {} has values for {} loops, {} around it",
              statement.name, forward.size(), around.size());
  for (const VarId loop : around) {
    const IndexExpr& value = forward.at(loop);
    const int64_t extent = tree.loops[loop].extent;
    if (IsRemainderWithin(value, extent)) continue;
    TUNEC_RETURN_IF_ERROR(
        Expect(tree, id,
               {{-value - 1, value - extent},
                fmt::format("loop {} has only {} iterations", tree.loops[loop].name, extent)},
               ctx));
  }
  for (const VarId i : statement.iterators.ids()) {
    const IndexExpr back =
        Substitute(tree.inverse[id][i.index()], [&](VarId v) { return forward.at(v); });
    const IndexExpr off = back - IndexExpr::Var(i);
    if (Simplify(off, statement.Intervals()) == IndexExpr(0)) continue;
    TUNEC_RETURN_IF_ERROR(
        Expect(tree, id,
               {{off - 1, -off - 1},
                fmt::format("the loops do not give back iterator {}", statement.iterators[i].name)},
               ctx));
  }
  return {};
}

}  // namespace

Status CheckInstances(const ScheduleTree& tree, isl_ctx* ctx) {
  for (const StatementId s : tree.statements.ids()) {
    const auto& iterators = tree.statements[s].iterators;
    if (std::ranges::any_of(iterators, [](const Iterator& it) { return it.extent == 0; })) continue;
    TUNEC_RETURN_IF_ERROR(CheckStatement(tree, s, ctx));
  }
  return {};
}

}  // namespace tunec
