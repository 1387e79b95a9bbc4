#include "polyhedral/thread_sums.h"

#include <algorithm>

#include "polyhedral/generate/conditions.h"
#include "polyhedral/relations.h"

namespace tunec {
namespace {

// Returns true only if the first iterations of all loops of the sum run whenever any of their
// iterations run.
bool BeginsTogether(const ScheduleTree& tree, StatementId statement, const ThreadSum& sum) {
  const auto is_first = [&](VarId loop) {
    return std::ranges::find(sum.threads, loop) != sum.threads.end() ||
           std::ranges::find(sum.inside, loop) != sum.inside.end();
  };
  const Conditions conditions(tree);
  return std::ranges::all_of(conditions.Of(statement), [&](const IndexExpr& condition) {
    std::vector<VarId> used;
    condition.CollectVars(used);
    if (std::ranges::none_of(used, is_first)) return true;
    const IndexExpr first = Substitute(condition, [&](VarId loop) {
      return is_first(loop) ? IndexExpr(0) : IndexExpr::Var(loop);
    });
    return BoundsOf(Simplify(first, tree.LoopIntervals()), tree.LoopIntervals()).lo >= 0;
  });
}

}  // namespace

std::optional<ThreadSum> ThreadSumOf(const ScheduleTree& tree, StatementId statement,
                                     const Statement& written) {
  if (!written.reducer || !written.reducer->reorderable) return std::nullopt;
  const auto writes_one = [&](VarId loop) {
    return WritesOneElement(tree, statement, written, loop);
  };
  ThreadSum sum;
  bool in_threads = false;
  for (const VarId loop : LoopsAround(tree.root, statement)) {
    const TreeLoop& of = tree.loops[loop];
    if (of.in_tile) return std::nullopt;
    if (IsBlock(of.kind)) {
      in_threads = true;
      if (of.extent > 1 && writes_one(loop)) sum.threads.push_back(loop);
    } else if (in_threads) {
      if (!writes_one(loop)) return std::nullopt;
      sum.inside.push_back(loop);
    }
  }
  if (sum.threads.empty() || !BeginsTogether(tree, statement, sum)) return std::nullopt;
  return sum;
}

}  // namespace tunec
