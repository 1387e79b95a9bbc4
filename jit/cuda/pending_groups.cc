// The implementation runs the loops of a block and counts the Arrives before each Wait. It ignores
// all other leaves.
#include "jit/cuda/pending_groups.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

constexpr int64_t kMostSteps = 1 << 16;

// A counter for one phase. An unknown value, too many steps or Roles end the count, without a
// result.
class Counter {
 public:
  explicit Counter(size_t variables) : values_(variables) {}

  std::map<const Wait*, int> Run(const Phase& phase) {
    Mark(phase.body);
    for (const NestNode& part : phase.body) {
      arrived_.clear();
      if (counts_.contains(&part)) Step(part);
    }
    return known_ ? std::move(least_) : std::map<const Wait*, int>();
  }

 private:
  using Stage = std::pair<int, int64_t>;  // a token and the number of its stage

  void Run(const Body& body) {
    for (const NestNode& node : body)
      if (known_ && counts_.contains(&node)) Step(node);
  }

  // Finds the nodes that are or contain Arrives and Waits. Returns whether there are any.
  bool Mark(const Body& body) {
    bool any = false;
    for (const NestNode& node : body) {
      bool counts =
          std::holds_alternative<Arrive>(node.value) || std::holds_alternative<Wait>(node.value);
      ForEachBody(node, [&](const Body& inner) { counts |= Mark(inner); });
      if (counts) counts_.insert(&node);
      any |= counts;
    }
    return any;
  }

  void Step(const NestNode& node) {
    Visit(
        node, [&](const Loop& loop) { RunLoop(loop); },
        [&](const If& branch) {
          for (const IndexExpr& condition : branch.nonnegative)
            if (ValueOf(condition).value_or(-1) < 0) return;
          Run(branch.body);
        },
        [&](const Alloc& alloc) { Run(alloc.body); },
        [&](const Arrive& arrive) {
          if (const auto stage = ValueOf(arrive.stage))
            arrived_[{arrive.token, *stage}] = ++groups_;
        },
        [&](const Wait& wait) { SeeWait(wait); }, [&](const Roles&) { known_ = false; },
        [](const auto&) {});
  }

  void RunLoop(const Loop& loop) {
    // One task represents all; the task's number is unknown.
    if (NumbersTasks(loop.kind)) return Run(loop.body);
    std::optional<int64_t> lower;
    std::optional<int64_t> upper;
    for (const IndexExpr& bound : loop.lower)
      lower = std::max(lower.value_or(INT64_MIN), ValueOf(bound).value_or(0));
    for (const IndexExpr& bound : loop.upper)
      upper = std::min(upper.value_or(INT64_MAX), ValueOf(bound).value_or(0));
    for (int64_t i = *lower; i < *upper && known_; ++i) {
      known_ = ++steps_ <= kMostSteps;
      values_[loop.var] = i;
      Run(loop.body);
    }
    values_[loop.var].reset();
  }

  void SeeWait(const Wait& wait) {
    const std::optional<int64_t> stage = ValueOf(wait.stage);
    if (!stage) return;
    const auto awaited = arrived_.find({wait.token, *stage});
    const int after = awaited == arrived_.end() ? 0 : groups_ - awaited->second;
    const auto [least, is_new] = least_.emplace(&wait, after);
    if (!is_new) least->second = std::min(least->second, after);
  }

  std::optional<int64_t> ValueOf(const IndexExpr& expr) {
    std::vector<VarId> variables;
    expr.CollectVars(variables);
    known_ &= !expr.UsesLoaded() &&
              std::ranges::all_of(variables, [&](VarId v) { return values_[v].has_value(); });
    if (!known_) return std::nullopt;
    std::vector<int64_t> point;
    for (const std::optional<int64_t>& value : values_) point.push_back(value.value_or(0));
    return Evaluate(expr, point);
  }

  std::set<const NestNode*> counts_;
  IdVector<VarId, std::optional<int64_t>> values_;
  std::map<Stage, int> arrived_;  // number of each stage's last group, from 1 on
  int groups_ = 0;                // number of groups so far
  int64_t steps_ = 0;
  bool known_ = true;
  std::map<const Wait*, int> least_;
};

}  // namespace

std::map<const Wait*, int> PendingGroups(const LoopNest& nest) {
  std::map<const Wait*, int> pending;
  ForEach<Wait>(nest, [&](const Wait& wait) { pending[&wait] = 0; });
  for (const Phase& phase : nest.phases)
    for (const auto& [wait, groups] : Counter(nest.variables.size()).Run(phase))
      pending[wait] = groups;
  return pending;
}

}  // namespace tunec
