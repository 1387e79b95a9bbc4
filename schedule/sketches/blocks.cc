// Blocks: for a device that runs blocks of threads. The elements that a statement writes are
// numbered in the order in which they lie; a thread computes one, with all that is summed for it,
// and neighbours compute neighbours, so that their accesses meet in the same lines of memory. What
// follows a sum element by element is done by the same thread, while the sum is in a register.
//
//   grid.x: block            (one phase for each reduction, or other statement)
//     block.x: thread        element block * threads + thread
//       register: sum = identity
//       for all that is reduced: sum = combine(sum, ...)
//       followers
//
// It fits whatever has independent elements. What has none, or what no order of these loops keeps
// legal, is left to one thread.
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
  int64_t threads = 256;  // of a block
};

// A statement's loops over what it writes, and what moves into them.
struct BlockPlan {
  std::string statement;
  std::vector<std::string> order;          // of those loops, outermost first
  std::vector<std::string> inside;         // loops that have to move below those
  std::vector<std::string> flat;           // what they are called as they are fused, one by one
  std::optional<CacheWriteStep> own_sums;  // where the sums are not its own to keep in registers
  std::vector<std::string> moved;          // statements that move below the innermost of them
  std::vector<std::string> registers;      // tensors that become registers
};

// Returns the loops of terms if one of them is outside of a loop of results.
std::vector<std::string> LoopsToMoveInside(const Statement& statement) {
  const std::vector<VarId> reduced = ReducedIterators(statement);
  const std::vector<VarId> written = WrittenIterators(statement);
  std::vector<std::string> names;
  if (reduced.empty() || written.empty()) return names;
  if (std::ranges::max(written) < std::ranges::min(reduced)) return names;
  for (const VarId iterator : reduced) names.push_back(statement.iterators[iterator].name);
  return names;
}

// The loops alone.
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

// A reduction and its followers, the sums in registers. None where these can't be.
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

// Finds what applies to one statement after the other.
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
