#include "schedule/sketches/operand_phases.h"

#include <algorithm>
#include <utility>

#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/sub_compute.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {

std::optional<Rewritten> InlineFollowers(const Compute& compute) {
  Rewritten result{compute, {}};
  for (StatementId s(1); result.compute.statements.contains(s);) {
    const Statement& follower = result.compute.statements[s];
    const auto is_workspace = [&](const Write& write) {
      return result.compute.tensors[write.tensor].role == TensorRole::kWorkspace;
    };
    if (std::ranges::none_of(follower.writes, is_workspace)) {
      ++s;
      continue;
    }
    const InlineStep step{follower.name};
    Result<Compute> without = Apply(result.compute, step);
    if (!without) return std::nullopt;
    result.compute = *std::move(without);
    result.steps.emplace_back(step);
  }
  return result;
}

void OperandPhases::Write(Schedule& schedule) const {
  constexpr int64_t kPackLanes = 64;
  for (const std::string& statement : constant)
    schedule.Add(StorageOrderStep{statement, kPackLanes});
  for (const DevicePhase& phase : phases) phase.WriteInitial(schedule);
}

std::optional<OperandPhases> MakeOperandPhases(const Compute& compute, StatementId end,
                                               const PhaseQuestion& question) {
  OperandPhases operands;
  for (StatementId s(0); s < end; ++s) {
    const Statement& statement = compute.statements[s];
    if (IsMadeOfConstant(compute, statement)) {
      operands.constant.push_back(statement.name);
      continue;
    }
    const Compute alone = StatementsOf(compute, s, s.next());
    std::optional<DevicePhase> phase = MakeCudaElementsPhase(
        {.compute = alone, .device = question.device, .rounding = question.rounding});
    if (!phase) return std::nullopt;
    operands.phases.push_back(*std::move(phase));
    PhaseCost cost{.blocks = question.device.processors};
    for (const TensorId tensor : {statement.reads[0].tensor, statement.writes[0].tensor})
      cost.memory_bytes += static_cast<double>(StorageBytes(compute.tensors[tensor]));
    operands.seconds += EstimateSeconds(cost, question.device);
  }
  return operands;
}

}  // namespace tunec
