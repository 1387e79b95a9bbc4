// cache_write: a reduction accumulates in a separate workspace. A new statement after the reduction
// copies the results to the original tensor. `stage` can put the workspace into registers, tile by
// tile; `stage` cannot move an argument.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Reject(const CacheWriteStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "cache_write {}: {}", step.statement, why);
}

// Checks that the statement is a reduction of one value with a write index for which
// NamesDimensions is true. The reduction may not read the storage that it writes. The names of the
// new tensor and statement must be free.
Status CheckReduction(const Compute& compute, const Statement& statement,
                      const CacheWriteStep& step) {
  if (!statement.reducer || statement.writes.size() != 1) {
    return Reject(step, "it is not a reduction of one value");
  }
  if (!NamesDimensions(statement.writes[0].index)) {
    return Reject(step, "its write index must consist of different iterators");
  }
  const auto home = [&](TensorId tensor) { return compute.tensors[tensor].alias.value_or(tensor); };
  for (const Read& read : statement.reads) {
    if (home(read.tensor) == home(statement.writes[0].tensor)) {
      return Reject(step, "it reads the tensor that it writes");
    }
  }
  for (const std::string& name : {step.statement + ".cache", step.statement + ".store"}) {
    if (!compute.FindTensor(name) && !compute.FindStatement(name)) continue;
    return Reject(step, fmt::format("there is {} already", name));
  }
  return {};
}

// Returns the copy statement over the iterators of the written elements. The reduction defines all
// these elements.
Statement StoreOf(const Statement& reduction, TensorId cache, DataType type) {
  Statement store{.name = reduction.name + ".store"};
  Write write = reduction.writes[0];
  std::vector<IndexExpr> renumbered(reduction.iterators.size());
  for (const VarId i : reduction.iterators.ids()) {
    const bool written =
        std::ranges::any_of(write.index, [&](const IndexExpr& index) { return index.Uses(i); });
    if (!written) continue;
    renumbered[i.index()] = IndexExpr::Var(store.iterators.next_id());
    store.iterators.push_back(reduction.iterators[i]);
  }
  for (IndexExpr& index : write.index) index = Substitute(index, renumbered);
  store.reads.push_back({cache, write.index, {}});
  store.writes.push_back(std::move(write));
  store.values.push_back(Expr::Read(0, type));
  return store;
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const CacheWriteStep& step) {
  const std::optional<StatementId> id = compute.FindStatement(step.statement);
  if (!id) return Reject(step, "there is no such statement");
  TUNEC_RETURN_IF_ERROR(CheckReduction(compute, compute.statements[*id], step));
  Compute result = compute;
  Statement& reduction = result.statements[*id];
  const Tensor& target = compute.tensors[reduction.writes[0].tensor];
  const TensorId cache = result.tensors.next_id();
  const Statement store = StoreOf(reduction, cache, target.type);
  reduction.writes[0].tensor = cache;
  result.tensors.push_back({.name = step.statement + ".cache",
                            .type = target.type,
                            .shape = target.shape,
                            .role = TensorRole::kWorkspace,
                            .alignment = 64,
                            .range = target.range});
  result.statements.insert(id->next(), store);
  return result;
}

}  // namespace tunec
