#include "schedule/sketches/own_sums.h"

#include <algorithm>
#include <utility>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {

std::optional<OwnSums> MakeOwnSums(const Compute& compute) {
  const Statement& sum = compute.statements.front();
  const auto is_workspace = [](const Compute& all, const Write& write) {
    return all.tensors[write.tensor].role == TensorRole::kWorkspace;
  };
  OwnSums own;
  Result<Compute> rewritten = compute;
  if (!std::ranges::all_of(sum.writes, [&](const Write& w) { return is_workspace(compute, w); })) {
    own.cache_write = CacheWriteStep{sum.name};
    rewritten = Apply(compute, *own.cache_write);
  }
  if (!rewritten) return std::nullopt;
  own.compute = std::make_shared<const Compute>(*std::move(rewritten));
  for (const Statement& statement : own.compute->statements) {
    if (statement.name != sum.name) own.followers.push_back(statement.name);
    for (const Write& write : statement.writes) {
      if (is_workspace(*own.compute, write))
        own.registers.push_back(own.compute->tensors[write.tensor].name);
    }
  }
  return own;
}

}  // namespace tunec
