// Blocks: sketches for a device that runs blocks of threads. The elements that a statement writes
// are numbered in storage order. Each thread computes one element with its whole sum. Adjacent
// threads compute adjacent elements, so their accesses share cache lines. The same thread computes
// the followers of the sum while the sum is in a register.
//
//   grid.x: block            (one phase for each reduction, or other statement)
//     block.x: thread        element block * threads + thread
//       register: sum = identity
//       for all reduced iterators: sum = combine(sum, ...)
//       followers
//
// The sketch fits all statements with independent elements. A statement without such elements, or
// to which the steps do not apply, has no steps and runs in one thread.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/access_analysis.h"
#include "schedule/apply.h"
#include "schedule/sketches/device_phase.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/loop_names.h"
#include "schedule/sketches/own_sums.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/sub_compute.h"

namespace tunec {
namespace {

struct BlockChoice {
  int64_t threads = 256;  // threads of a block
};

// The loops of a statement over its results, and the statements that move into these loops.
struct BlockPlan {
  std::string statement;
  std::vector<std::string> order;          // iterators of the results, outermost first
  std::vector<std::string> inside;         // reduced iterators that must move inside `order`
  std::vector<std::string> flat;           // names of the loops after each step that fuses them
  std::optional<CacheWriteStep> own_sums;  // set if the reduction does not write workspace
  std::vector<std::string> moved;          // statements that move into the innermost of these loops
  std::vector<std::string> registers;      // tensors that are staged in registers
};

// Returns all reduced iterators if any of these is outside an iterator of the results. Otherwise
// returns an empty list.
std::vector<std::string> LoopsToMoveInside(const Statement& statement) {
  const std::vector<VarId> reduced = ReducedIterators(statement);
  const std::vector<VarId> written = WrittenIterators(statement);
  std::vector<std::string> names;
  if (reduced.empty() || written.empty()) return names;
  if (std::ranges::max(written) < std::ranges::min(reduced)) return names;
  for (const VarId iterator : reduced) names.push_back(statement.iterators[iterator].name);
  return names;
}

// Returns a plan that has only the statement's loops.
BlockPlan PlanFor(const Compute& compute, const Statement& statement) {
  std::vector<VarId> independent;
  for (const VarId iterator : WrittenIterators(statement)) {
    if (statement.iterators[iterator].kind == IteratorKind::kParallel)
      independent.push_back(iterator);
  }
  BlockPlan plan{.statement = statement.name};
  for (const VarId iterator : InStorageOrder(compute, statement, statement.writes[0], independent))
    plan.order.push_back(statement.iterators[iterator].name);
  for (size_t i = 1; i < plan.order.size(); ++i)
    plan.flat.push_back(NewLoopName(compute, statement.name, "flat" + std::to_string(i)));
  plan.inside = LoopsToMoveInside(statement);
  return plan;
}

// Returns the plan of a reduction and its followers, with the sums in registers. Returns nothing if
// the sums cannot be moved to workspace.
std::optional<BlockPlan> PlanForReduction(const Compute& compute, StatementId begin,
                                          StatementId end) {
  const Statement& reduction = compute.statements[begin];
  std::optional<OwnSums> own = MakeOwnSums(StatementsOf(compute, begin, end));
  if (!own) return std::nullopt;
  BlockPlan plan = PlanFor(compute, reduction);
  plan.own_sums = own->cache_write;
  plan.moved = {reduction.name + ".init"};
  plan.moved.insert(plan.moved.end(), own->followers.begin(), own->followers.end());
  plan.registers = std::move(own->registers);
  return plan;
}

void WriteBlocks(const BlockPlan& plan, const BlockChoice& choice, Schedule& schedule) {
  const auto loop = [&](const std::string& name) { return plan.statement + "." + name; };
  if (plan.own_sums) schedule.Add(*plan.own_sums);
  ReorderStep order;
  for (const std::string& iterator : plan.order) order.loops.push_back(loop(iterator));
  const std::vector<std::string> written = order.loops;
  std::string all = written.front();
  for (const std::string& iterator : plan.inside) order.loops.push_back(loop(iterator));
  if (order.loops.size() > 1) schedule.Add(order);
  for (const std::string& moved : plan.moved) schedule.Add(ComputeAtStep{moved, written.back()});
  for (size_t i = 1; i < written.size(); ++i) {
    schedule.Add(FuseStep{all, written[i], plan.flat[i - 1]});
    all = plan.flat[i - 1];
  }
  schedule.Add(SplitStep{all, {choice.threads}});
  for (const std::string& tensor : plan.registers)
    schedule.Add(StageStep{.tensor = tensor, .scope = Scope::kRegister, .loop = all + ".1"});
  schedule.Add(BindStep{all + ".0", LoopKind::kGridX});
  schedule.Add(BindStep{all + ".1", LoopKind::kBlockX});
}

// Makes the plans of a Compute, statement by statement. The steps of each plan must apply to its
// statements alone.
class BlockPlanner {
 public:
  BlockPlanner(const NamedCompute& lowering, const RoundingFreedom& rounding)
      : lowering_(lowering), compute_(lowering.compute), rounding_(rounding) {}

  std::vector<BlockPlan> Plans() {
    std::vector<BlockPlan> plans;
    for (StatementId at(0); compute_.statements.contains(at);) {
      const StatementId begin = at;
      at = begin.next();
      const Statement& statement = compute_.statements[begin];
      if (statement.reducer) {
        const StatementId followers = FollowersEnd(compute_, begin);
        if (AddIfApplies(PlanForReduction(compute_, begin, followers), begin, followers, plans)) {
          at = followers;
          continue;
        }
        if (AddIfApplies(PlanForReduction(compute_, begin, at), begin, at, plans)) continue;
      }
      AddIfApplies(PlanFor(compute_, statement), begin, at, plans);
    }
    return plans;
  }

 private:
  bool AddIfApplies(std::optional<BlockPlan> plan, StatementId begin, StatementId end,
                    std::vector<BlockPlan>& plans) const {
    if (!plan || plan->order.empty()) return false;
    Schedule alone{.lowering = lowering_.name};
    WriteBlocks(*plan, {}, alone);
    if (!CheckApplies(StatementsOf(compute_, begin, end), alone, rounding_)) return false;
    plans.push_back(*std::move(plan));
    return true;
  }

  const NamedCompute& lowering_;
  const Compute& compute_;
  const RoundingFreedom& rounding_;
};

Knobs<BlockChoice> BlockKnobs() {
  Knobs<BlockChoice> knobs;
  knobs.Add({"threads", {32, 64, 128, 256, 512, 1024}, 3}, &BlockChoice::threads);
  return knobs;
}

}  // namespace

std::optional<DevicePhase> MakeBlockPhase(const PhaseQuestion& question) {
  const Compute& compute = question.compute;
  const Statement& first = compute.statements.front();
  const StatementId end(compute.statements.size());
  if (!first.reducer && compute.statements.size() > 1) return std::nullopt;
  const std::optional<BlockPlan> plan =
      first.reducer ? PlanForReduction(compute, StatementId(0), end) : PlanFor(compute, first);
  if (!plan || plan->order.empty()) return std::nullopt;
  const Knobs<BlockChoice> knobs = BlockKnobs();
  return DevicePhase{"blocks", knobs.list(),
                     [plan = *plan, knobs](const std::vector<int64_t>& values, Schedule& schedule) {
                       WriteBlocks(plan, knobs.Choose(values), schedule);
                     }};
}

void AddBlockSketches(const NamedCompute& lowering, const RoundingFreedom& rounding,
                      std::vector<Sketch>& sketches) {
  const auto shares = [](const Tensor& tensor) { return tensor.alias.has_value(); };
  if (std::ranges::any_of(lowering.compute.tensors, shares)) return;
  const std::vector<BlockPlan> plans = BlockPlanner(lowering, rounding).Plans();
  if (plans.empty()) return;
  Knobs<BlockChoice> knobs = BlockKnobs();
  const auto write = [plans, lowering = lowering.name](const BlockChoice& choice) {
    Schedule schedule{.lowering = lowering};
    for (const BlockPlan& plan : plans) WriteBlocks(plan, choice, schedule);
    return schedule;
  };
  sketches.push_back(MakeSketch("blocks", std::move(knobs), write));
}

}  // namespace tunec
