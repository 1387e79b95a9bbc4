// Reductions of all elements to one value each. Each task reduces a share in the lanes of
// registers, and a last phase combines the results of the tasks.
//
//   parallel: shares
//     registers: part[V] = identity
//     for each V elements of the share: part[v] = combine(part[v], x[...])
//     share = combine of part
//   combine of shares
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/access_analysis.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/sketches.h"

namespace tunec {
namespace {

struct ReduceAllChoice {
  int64_t shares = 8;
  int64_t vector = 64;
};

struct ReduceAllPlan {
  std::string statement;
  std::string shared;  // the iterator that is split into shares
  int64_t extent = 1;  // extent of `shared`
  std::string along;   // the iterator along which a read is contiguous; may equal `shared`
  int64_t length = 1;  // extent of `along`
};

std::optional<ReduceAllPlan> MakePlan(const Compute& compute, const Statement& reduction) {
  if (!reduction.reducer->reorderable || reduction.writes.size() != 1 ||
      !reduction.reducer->finalise.empty() || !WrittenIterators(reduction).empty()) {
    return std::nullopt;
  }
  std::optional<VarId> along;
  for (const Read& read : reduction.reads) {
    if (!along) along = ContiguousIterator(compute, reduction, read.tensor, read.index);
  }
  if (!along) return std::nullopt;
  VarId shared = *along;
  for (const VarId other : reduction.iterators.ids()) {
    const int64_t extent = reduction.iterators[other].extent;
    const bool longer = shared == *along || extent > reduction.iterators[shared].extent;
    if (other != *along && extent > 1 && longer) shared = other;
  }
  return ReduceAllPlan{.statement = reduction.name,
                       .shared = reduction.iterators[shared].name,
                       .extent = reduction.iterators[shared].extent,
                       .along = reduction.iterators[*along].name,
                       .length = reduction.iterators[*along].extent};
}

// Returns the plans of all reductions. Returns an empty list if a reduction does not fit, or if
// another statement has loops.
std::vector<ReduceAllPlan> MakePlans(const Compute& compute) {
  std::vector<ReduceAllPlan> plans;
  for (const Statement& statement : compute.statements) {
    if (!statement.reducer && statement.iterators.empty()) continue;
    if (!statement.reducer) return {};
    std::optional<ReduceAllPlan> plan = MakePlan(compute, statement);
    if (!plan) return {};
    plans.push_back(std::move(*plan));
  }
  return plans;
}

// Adds the steps of one reduction.
void WriteReduction(const ReduceAllPlan& plan, const ReduceAllChoice& choice, Schedule& schedule) {
  const auto add = [&](auto step) { schedule.Add(std::move(step)); };
  const bool cut_along = plan.shared == plan.along;
  int64_t share = CeilDivide(plan.extent, std::min(choice.shares, plan.extent));
  if (cut_along) share = CeilDivide(share, choice.vector) * choice.vector;
  const std::string part = plan.statement + ".part";
  const std::string lanes = part + ".part";
  const std::string along = cut_along ? plan.along + "i" : plan.along;
  const int64_t length = cut_along ? share : plan.length;
  const int64_t vector = std::min(choice.vector, length);
  const std::string task = lanes + "." + plan.shared + "o";
  add(ReduceSplitStep{plan.statement, plan.shared, share, ReduceSplitStep::Parallel::kOuter});
  add(ReduceSplitStep{part, along, vector, ReduceSplitStep::Parallel::kInner});
  for (const std::string& statement : {lanes + ".init", part, part + ".init"}) {
    add(ComputeAtStep{statement, task});
  }
  add(StageStep{lanes, Scope::kRegister, task});
  const bool partial = plan.extent % share != 0;
  if (partial) add(IsolateStep{task});
  if (length % vector != 0 || (cut_along && partial)) add(IsolateStep{lanes + "." + along + "o"});
  add(VectorizeStep{lanes + "." + along + "i"});
  add(VectorizeStep{lanes + ".init." + along + "i"});
  add(VectorizeStep{part + "." + along + "i"});
  add(ParallelizeStep{task});
}

}  // namespace

void AddReduceAllSketches(const NamedCompute& lowering, const Target& target,
                          std::vector<Sketch>& sketches) {
  const std::vector<ReduceAllPlan> plans = MakePlans(lowering.compute);
  if (plans.empty()) return;
  const int64_t lanes = target.host.Lanes(4);
  const int64_t threads = target.host.threads;
  Knobs<ReduceAllChoice> knobs;
  knobs.Add({"shares", {threads, 2 * threads, 4 * threads, 16 * threads}, 2},
            &ReduceAllChoice::shares);
  knobs.Add({"vector", {lanes, 2 * lanes, 4 * lanes}, 2}, &ReduceAllChoice::vector);
  const auto write = [plans, name = lowering.name](const ReduceAllChoice& choice) {
    Schedule schedule{.lowering = name};
    for (const ReduceAllPlan& plan : plans) WriteReduction(plan, choice, schedule);
    return schedule;
  };
  sketches.push_back(MakeSketch("reduce_all", std::move(knobs), write));
}

}  // namespace tunec
