// Pointwise: every element is computed by itself; chains of elementwise operators and data
// movement.
#include <optional>

#include "schedule/sketches/pointwise_plan.h"
#include "schedule/sketches/sketches.h"

namespace tunec {

void AddPointwiseSketches(const NamedCompute& lowering, const Target& target,
                          std::vector<Sketch>& sketches) {
  const int64_t lanes = target.Lanes(4);
  std::vector<PointwisePlan> plans;
  bool turns = false;
  for (const Statement& statement : lowering.compute.statements) {
    std::optional<PointwisePlan> plan = MakePointwisePlan(lowering.compute, statement, lanes);
    if (!plan) return;
    turns |= plan->across.has_value();
    plans.push_back(std::move(*plan));
  }
  const bool large = CountWork(lowering.compute).bytes > static_cast<double>(target.l3_bytes);
  Sketch sketch{.name = "pointwise"};
  sketch.knobs.push_back({"vector", {lanes, 2 * lanes, 4 * lanes}, 1});
  sketch.knobs.push_back({"trips", {4, 16, 64, 256}, 2});
  sketch.knobs.push_back({"non_temporal", {0, 1}, large ? 1 : 0});
  if (turns) sketch.knobs.push_back({"block", {0, lanes}, 1});
  sketch.fill = [plans, turns, lowering = lowering.name,
                 threads = target.threads](const std::vector<int64_t>& values) {
    Schedule schedule{.lowering = lowering};
    const PointwiseChoice choice{.vector = values[0],
                                 .trips = values[1],
                                 .non_temporal = values[2] != 0,
                                 .block = turns ? values[3] : 0};
    for (const PointwisePlan& plan : plans) {
      WritePointwise(plan, choice, threads, schedule);
    }
    return schedule;
  };
  sketches.push_back(std::move(sketch));
}

}  // namespace tunec
