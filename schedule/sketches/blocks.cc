// Blocks: for a device that runs blocks of threads, each statement by itself. The elements that it
// writes are numbered in the order in which they lie; a thread computes one, with all that is
// summed for it, and neighbours compute neighbours, so that their accesses meet in the same lines
// of memory.
//
//   grid.x: block            (one phase for each statement)
//     block.x: thread        element block * threads + thread
//       for all that is reduced
//
// It fits whatever has independent elements. What has none, or what no order of these loops keeps
// legal, is left to one thread.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schedule/access_analysis.h"
#include "schedule/apply.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/sub_compute.h"

namespace tunec {
namespace {

struct BlockChoice {
  int64_t threads = 256;  // of a block
};

// One statement's loops over what it writes.
struct BlockPlan {
  std::string statement;
  std::vector<std::string> order;  // of those loops, outermost first
  int64_t elements = 1;
};

// By how far apart the elements lie; ties stay as written.
std::vector<VarId> InStorageOrder(const Compute& compute, const Statement& statement,
                                  const std::vector<VarId>& iterators) {
  const Write& write = statement.writes[0];
  std::vector<std::pair<int64_t, VarId>> by_stride;
  for (const VarId iterator : iterators) {
    const auto stride = StorageStride(compute, statement, write.tensor, write.index, iterator);
    constexpr int64_t kFar = int64_t{1} << 50;  // a divided iterator
    by_stride.emplace_back(stride ? std::abs(*stride) : kFar, iterator);
  }
  std::ranges::stable_sort(by_stride,
                           [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<VarId> order;
  for (const auto& [stride, iterator] : by_stride) order.push_back(iterator);
  return order;
}

BlockPlan PlanFor(const Compute& compute, const Statement& statement) {
  std::vector<VarId> independent;
  for (const VarId iterator : WrittenIterators(statement)) {
    if (statement.iterators[iterator].kind == IteratorKind::kParallel)
      independent.push_back(iterator);
  }
  BlockPlan plan{.statement = statement.name};
  for (const VarId iterator : InStorageOrder(compute, statement, independent)) {
    plan.order.push_back(statement.iterators[iterator].name);
    plan.elements *= statement.iterators[iterator].extent;
  }
  return plan;
}

void WriteBlocks(const BlockPlan& plan, const BlockChoice& choice, Schedule& schedule) {
  const auto loop = [&](const std::string& name) { return plan.statement + "." + name; };
  ReorderStep order;
  for (const std::string& iterator : plan.order) order.loops.push_back(loop(iterator));
  std::string all = order.loops[0];
  if (order.loops.size() > 1) schedule.Add(order);
  for (size_t i = 1; i < order.loops.size(); ++i) {
    std::string name = loop("flat" + std::to_string(i));
    schedule.Add(FuseStep{all, order.loops[i], name});
    all = std::move(name);
  }
  schedule.Add(SplitStep{all, {choice.threads}});
  schedule.Add(BindStep{all + ".0", LoopKind::kGridX});
  schedule.Add(BindStep{all + ".1", LoopKind::kBlockX});
}

}  // namespace

void AddBlockSketches(const NamedCompute& lowering, const RoundingFreedom& rounding,
                      std::vector<Sketch>& sketches) {
  const Compute& compute = lowering.compute;
  const auto shares = [](const Tensor& tensor) { return tensor.alias.has_value(); };
  const bool apart = std::ranges::none_of(compute.tensors, shares);
  std::vector<BlockPlan> plans;
  for (const StatementId s : compute.statements.ids()) {
    BlockPlan plan = PlanFor(compute, compute.statements[s]);
    if (plan.order.empty()) continue;
    Schedule alone{.lowering = lowering.name};
    WriteBlocks(plan, {}, alone);
    const bool applies =
        !apart || CheckApplies(StatementsOf(compute, s, s.next()), alone, rounding).has_value();
    if (applies) plans.push_back(std::move(plan));
  }
  if (plans.empty()) return;
  Knobs<BlockChoice> knobs;
  knobs.Add({"threads", {32, 64, 128, 256, 512, 1024}, 3}, &BlockChoice::threads);
  const auto write = [plans, lowering = lowering.name](const BlockChoice& choice) {
    Schedule schedule{.lowering = lowering};
    for (const BlockPlan& plan : plans) WriteBlocks(plan, choice, schedule);
    return schedule;
  };
  sketches.push_back(MakeSketch("blocks", std::move(knobs), write));
}

}  // namespace tunec
