// hoist: moves a statement before all other statements.
//
// Statements run one after the other. If a statement moves into the loops of an earlier one, a copy
// that the moved statement reads must run before these loops. `hoist` moves such a copy.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

std::unexpected<Error> Reject(const HoistStep& step, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "hoist {}: {}", step.statement, why);
}

}  // namespace

Result<Compute> Apply(const Compute& compute, const HoistStep& step) {
  const std::optional<StatementId> id = compute.FindStatement(step.statement);
  if (!id) return Reject(step, "there is no such statement");
  const Statement& moved = compute.statements[*id];
  const auto home = [&](TensorId tensor) { return compute.tensors[tensor].alias.value_or(tensor); };
  const auto touches = [&](const auto& accesses, TensorId tensor) {
    return std::ranges::any_of(
        accesses, [&](const auto& access) { return home(access.tensor) == home(tensor); });
  };
  for (StatementId s(0); s < *id; ++s) {
    const Statement& before = compute.statements[s];
    for (const Read& read : moved.reads) {
      if (!touches(before.writes, read.tensor)) continue;
      return Reject(step, fmt::format("{} writes what it reads", before.name));
    }
    for (const Write& write : moved.writes) {
      if (!touches(before.writes, write.tensor) && !touches(before.reads, write.tensor)) continue;
      return Reject(step, fmt::format("{} uses what it writes", before.name));
    }
  }
  Compute result = compute;
  result.statements.erase(*id);
  result.statements.insert(StatementId(0), moved);
  return result;
}

}  // namespace tunec
