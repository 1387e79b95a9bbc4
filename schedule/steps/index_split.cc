// index_split: splits one statement into several, one for each range of an iterator's values, each
// with separate loops.
// All instances of a part come before those of the next part, as if the iterator's loop were
// outermost. The step checks this order against the dependences.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "polyhedral/legality/legality.h"
#include "schedule/steps/apply_compute_steps.h"
#include "schedule/steps/apply_loop_steps.h"

namespace tunec {
namespace {

// Limit of the number of parts, because each part becomes separate code.
constexpr size_t kMostParts = 64;

std::unexpected<Error> Reject(const IndexSplitStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "index_split {}: {}", step.statement, why);
}

// Checks that an index of each write is the iterator plus a constant, so that different values of
// the iterator write different elements. Otherwise a part of a reduction would drop the terms of
// earlier parts.
bool TellsElementsApart(const Statement& statement, VarId iterator) {
  return std::ranges::all_of(statement.writes, [&](const Write& write) {
    return std::ranges::any_of(write.index, [&](const IndexExpr& index) {
      return (index - IndexExpr::Var(iterator)).IsConstant();
    });
  });
}

Result<VarId> FindIterator(const Statement& statement, const IndexSplitStep& step) {
  const auto found = std::ranges::find(statement.iterators, step.iterator, &Iterator::name);
  if (found == statement.iterators.end()) {
    return Reject(step, fmt::format("it has no iterator {}", step.iterator));
  }
  const auto iterator = statement.iterators.id_of(found);
  if (statement.reducer && !TellsElementsApart(statement, iterator)) {
    return Reject(step, fmt::format("{} is reduced over", step.iterator));
  }
  return iterator;
}

// Returns 0, the points at which parts begin, and the end of the last part.
Result<std::vector<int64_t>> Borders(const Statement& statement, VarId iterator,
                                     const IndexSplitStep& step) {
  const int64_t extent = statement.iterators[iterator].extent;
  std::vector<int64_t> borders = {0};
  for (const int64_t point : step.points) {
    if (point <= borders.back() || point >= extent) {
      return Reject(step, fmt::format("no part of the {} values of {} begins at {}", extent,
                                      step.iterator, point));
    }
    borders.push_back(point);
  }
  borders.push_back(extent);
  if (borders.size() < 3 || borders.size() > kMostParts + 1) {
    return Reject(step, fmt::format("{} parts, expected 2 to {}", borders.size() - 1, kMostParts));
  }
  return borders;
}

// Checks the dependences as if the iterator's loop were the outermost loop of its statement.
Status CheckOrder(const Compute& compute, const Statement& statement, VarId iterator,
                  ReductionOrder order) {
  if (iterator == IteratorVar(0)) return {};
  ScheduleTree tree = OriginalTree(compute);
  ReorderStep outermost{{statement.name + "." + statement.iterators[iterator].name}};
  for (const VarId i : statement.iterators.ids()) {
    if (i == iterator) continue;
    outermost.loops.push_back(statement.name + "." + statement.iterators[i].name);
  }
  TUNEC_RETURN_IF_ERROR(Apply(tree, outermost));
  return CheckLegality(Dependences::Of(tree.tensors, tree.statements), tree, order);
}

// Returns the statement for the iterator's values in [begin, end); the new iterator begins at 0.
Statement PartOf(const Statement& statement, VarId iterator, int64_t begin, int64_t end) {
  Statement part = statement;
  part.iterators[iterator].extent = end - begin;
  const auto shift = [&](const IndexExpr& index) {
    return Substitute(index,
                      [&](VarId v) { return IndexExpr::Var(v) + (v == iterator ? begin : 0); });
  };
  const auto shift_all = [&](std::vector<IndexExpr>& all) {
    for (IndexExpr& index : all) index = shift(index);
  };
  shift_all(part.domain);
  for (Read& read : part.reads) {
    shift_all(read.index);
    if (read.guard) shift_all(read.guard->nonnegative);
  }
  for (Write& write : part.writes) shift_all(write.index);
  for (Expr& value : part.values) value = TransformIndices(value, shift);
  return part;
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const IndexSplitStep& step, ReductionOrder order) {
  const std::optional<StatementId> id = compute.FindStatement(step.statement);
  if (!id) return Reject(step, "there is no such statement");
  const Statement& statement = compute.statements[*id];
  if (IsMadeOfConstant(compute, statement)) return Reject(step, "it runs at compile time");
  TUNEC_ASSIGN(const VarId iterator, FindIterator(statement, step));
  TUNEC_ASSIGN(const std::vector<int64_t> borders, Borders(statement, iterator, step));
  TUNEC_RETURN_IF_ERROR(CheckOrder(compute, statement, iterator, order));
  std::vector<Statement> parts;
  for (size_t p = 0; p + 1 < borders.size(); ++p) {
    parts.push_back(PartOf(statement, iterator, borders[p], borders[p + 1]));
    parts.back().name = fmt::format("{}.part{}", statement.name, p);
    if (compute.FindStatement(parts.back().name)) {
      return Reject(step, fmt::format("there is {} already", parts.back().name));
    }
  }
  Compute result = compute;
  result.statements.erase(*id);
  result.statements.insert(*id, parts.begin(), parts.end());
  return result;
}

}  // namespace tunec
