#include "schedule/sketches/sub_compute.h"

#include <algorithm>
#include <set>

#include "schedule/access_analysis.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

int64_t Instances(const Statement& statement, const std::vector<VarId>& iterators) {
  int64_t instances = 1;
  for (const VarId v : iterators) instances *= statement.iterators[v].extent;
  return instances;
}

int64_t Instances(const Statement& statement) {
  int64_t instances = 1;
  for (const Iterator& iterator : statement.iterators) instances *= iterator.extent;
  return instances;
}

// The uses of a tensor by the chosen statements, and by the others.
struct Use {
  bool read = false;
  bool written = false;
  bool read_by_others = false;
};

Use UseOf(const Compute& compute, TensorId tensor, StatementId begin, StatementId end) {
  const auto touches = [&](const auto& access) { return access.tensor == tensor; };
  Use use;
  for (const StatementId s : compute.statements.ids()) {
    const bool chosen = begin <= s && s < end;
    const bool reads = std::ranges::any_of(compute.statements[s].reads, touches);
    const bool writes = std::ranges::any_of(compute.statements[s].writes, touches);
    use.read |= chosen && reads;
    use.written |= chosen && writes;
    use.read_by_others |= !chosen && reads;
  }
  return use;
}

TensorRole RoleOf(const Tensor& tensor, const Use& use) {
  if (use.written) {
    const bool seen = tensor.role == TensorRole::kOutput || use.read_by_others;
    return seen ? TensorRole::kOutput : tensor.role;
  }
  if (use.read && tensor.role != TensorRole::kWeight) return TensorRole::kInput;
  return use.read ? tensor.role : TensorRole::kWorkspace;
}

}  // namespace

Compute StatementsOf(const Compute& compute, StatementId begin, StatementId end) {
  Compute part = compute;
  const auto first = compute.statements.begin();
  part.statements.assign(first + begin.number(), first + end.number());
  for (const TensorId t : part.tensors.ids()) {
    Tensor& tensor = part.tensors[t];
    tensor.role = RoleOf(tensor, UseOf(compute, t, begin, end));
  }
  return RemoveUnusedTensors(part);
}

StatementId FollowersEnd(const Compute& compute, StatementId reduction) {
  const Statement& sum = compute.statements[reduction];
  std::set<TensorId> made;
  StatementId end = reduction;
  const auto add = [&](const Statement& statement) {
    for (const Write& write : statement.writes) made.insert(write.tensor);
    ++end;
  };
  add(sum);
  while (compute.statements.contains(end)) {
    const Statement& next = compute.statements[end];
    const bool reads = std::ranges::any_of(
        next.reads, [&](const Read& read) { return made.contains(read.tensor); });
    const bool alike = Instances(next) == Instances(sum, WrittenIterators(sum));
    if (next.reducer || !reads || !alike) break;
    add(next);
  }
  return end;
}

}  // namespace tunec
