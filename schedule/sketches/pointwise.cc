// Pointwise: elementwise statements and scatters, such as chains of elementwise operators and data
// movement.
#include <algorithm>
#include <optional>

#include "schedule/sketches/knobs.h"
#include "schedule/sketches/pointwise_plan.h"
#include "schedule/sketches/sketches.h"

namespace tunec {
namespace {

// Returns true if the statement has no loop to schedule. An example is the index of a scatter's
// only update, or the update itself.
bool IsOneElement(const Statement& statement) {
  return !statement.reducer && statement.iterators.empty();
}

}  // namespace

void AddPointwiseSketches(const NamedCompute& lowering, const Target& target,
                          std::vector<Sketch>& sketches) {
  const int64_t lanes = target.host.Lanes(4);
  std::vector<PointwisePlan> plans;
  bool turns = false;
  const bool scatters = std::ranges::any_of(lowering.compute.statements, Scatters);
  for (const Statement& statement : lowering.compute.statements) {
    if (scatters && IsOneElement(statement)) continue;
    std::optional<PointwisePlan> plan = MakePointwisePlan(lowering.compute, statement, lanes);
    if (!plan) return;
    plan->few_tasks = scatters;
    turns |= plan->across.has_value();
    plans.push_back(std::move(*plan));
  }
  if (plans.empty()) return;
  const bool large = CountWork(lowering.compute).bytes > static_cast<double>(target.host.l3_bytes);
  Knobs<PointwiseChoice> knobs;
  knobs.Add({"vector", {lanes, 2 * lanes, 4 * lanes}, 1}, &PointwiseChoice::vector);
  knobs.Add({"trips", {4, 16, 64, 256}, 2}, &PointwiseChoice::trips);
  // Stores bypass the caches only for data that exceeds the L3 cache. Later reads find smaller data
  // in a cache.
  if (large) knobs.Add({"non_temporal", {0, 1}, 1}, &PointwiseChoice::non_temporal);
  if (turns) knobs.Add({"block", {0, lanes}, 1}, &PointwiseChoice::block);
  const auto write = [plans, lowering = lowering.name,
                      threads = target.host.threads](const PointwiseChoice& choice) {
    Schedule schedule{.lowering = lowering};
    for (const PointwisePlan& plan : plans) WritePointwise(plan, choice, threads, schedule);
    return schedule;
  };
  sketches.push_back(MakeSketch("pointwise", std::move(knobs), write));
}

}  // namespace tunec
