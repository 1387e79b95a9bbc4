// Legality is one question asked of every dependence: does it still run forward?
//
// An instance's time is the vector of its places in sequences and its loops' values, from
// the root of the tree down (relations.h). Two statements share the entries of the nodes they
// share, and are told apart by the sequence where they part, so comparing their times
// lexicographically compares their order. A dependence a -> b is violated when
// time(a) >= time(b); a loop carries it when all entries before the loop's are equal and the
// loop's differ.
#include "polyhedral/legality.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/loop_nest_names.h"
#include "polyhedral/dependences.h"
#include "polyhedral/effects.h"
#include "polyhedral/instances.h"
#include "polyhedral/isl_handles.h"
#include "polyhedral/lane_turns.h"
#include "polyhedral/order_proof.h"
#include "polyhedral/relations.h"
#include "support/check.h"

namespace tunec {
namespace {

constexpr size_t kThreadAxes = 3;

// One check of a tree. Each dependence is mapped to the set of differences between the times of
// its ends; every question is then whether some of these vectors has a certain shape.
class Check {
 public:
  Check(isl_ctx* ctx, const ProofInput& input, const std::vector<Storage>& storages)
      : ctx_(ctx),
        storages_(storages),
        tensors_(input.tensors),
        statements_(input.statements),
        tree_(input.tree),
        order_(input.order) {
    BuildTimes();
    Collect(tree_.root, 0);
  }

  Status CheckDependence(const Dependence& dependence) const;

 private:
  // A node of the tree that asks something: a stage, or a loop that is not serial.
  struct Place {
    const TreeNode* node;
    size_t depth;  // entries of time before it
    std::vector<StatementId> inside;
    bool Holds(StatementId s) const { return std::ranges::find(inside, s) != inside.end(); }
  };

  void BuildTimes();
  void Collect(const TreeNode& node, size_t depth);
  const Place* StageOf(TensorId tensor) const;
  isl::Set Differences(const Dependence& dependence) const;
  isl::Set EqualBefore(isl::Set differences, size_t depth) const;
  std::string Describe(const isl::Set& violating, const Dependence& dependence) const;
  Status ExpectNone(const isl::Set& violating, const Dependence& dependence,
                    const std::string& what) const;
  Status CheckForward(const isl::Set& differences, const Dependence& dependence) const;
  Status CheckLoops(const isl::Set& differences, const Dependence& dependence) const;
  Status CheckThreads(const isl::Set& differences, const Dependence& dependence) const;
  Status CheckPipelines(const isl::Set& differences, const Dependence& dependence) const;
  bool IsOwnReduction(const Dependence& dependence) const;
  bool IsSumOfLanes(VarId loop, const Dependence& dependence) const;
  bool TakesTurns(const Place& loop, const Dependence& dependence) const;

  isl_ctx* ctx_;
  const std::vector<Storage>& storages_;
  const std::vector<Tensor>& tensors_;
  const std::vector<Statement>& statements_;  // before staging
  const ScheduleTree& tree_;
  ReductionOrder order_;
  size_t length_ = 0;  // of times; behind them in `times_` stand the numbers of the thread
  std::vector<isl::Map> times_;
  std::vector<Place> stages_;
  std::vector<Place> loops_;
  std::vector<Place> pipelines_;
};

void Check::BuildTimes() {
  std::vector<std::vector<IndexExpr>> times;
  for (size_t s = 0; s < tree_.statements.size(); ++s) {
    times.push_back(TimeOf(tree_, static_cast<StatementId>(s)));
    length_ = std::max(length_, times.back().size());
  }
  for (size_t s = 0; s < times.size(); ++s) {
    times[s].resize(length_, IndexExpr(0));
    std::ranges::copy(ThreadOf(tree_, static_cast<StatementId>(s)), std::back_inserter(times[s]));
    const std::string text = TimeText(static_cast<StatementId>(s), tree_.statements[s], times[s]);
    times_.emplace_back(isl_map_read_from_str(ctx_, text.c_str()));
  }
}

void Check::Collect(const TreeNode& node, size_t depth) {
  if (node.kind == TreeNode::Kind::kAlloc) {
    stages_.push_back({&node, depth, StatementsBelow(node)});
  }
  if (node.kind == TreeNode::Kind::kLoop) {
    if (RunsTogether(tree_.loops[node.loop].kind)) {
      loops_.push_back({&node, depth, StatementsBelow(node)});
    }
    if (tree_.loops[node.loop].IsPipelined()) {
      pipelines_.push_back({&node, depth, StatementsBelow(node)});
    }
  }
  const bool has_entry =
      node.kind == TreeNode::Kind::kLoop || node.kind == TreeNode::Kind::kSequence;
  for (const TreeNode& child : node.children) Collect(child, depth + (has_entry ? 1 : 0));
}

const Check::Place* Check::StageOf(TensorId tensor) const {
  const auto found = std::ranges::find_if(
      stages_, [&](const Place& stage) { return stage.node->tensor == tensor; });
  return found == stages_.end() ? nullptr : &*found;
}

bool Check::IsOwnReduction(const Dependence& dependence) const {
  return dependence.from == dependence.to && IsReorderable(tensors_, statements_[dependence.from]);
}

// Lanes that all add to one element are summed before.
bool Check::IsSumOfLanes(VarId loop, const Dependence& dependence) const {
  return tree_.loops[loop].kind == LoopKind::kVector && order_ == ReductionOrder::kAny &&
         IsOwnReduction(dependence) &&
         WritesOneElement(tree_, dependence.from, statements_[dependence.from], loop);
}

// Lanes of which each write's turn comes as a whole.
bool Check::TakesTurns(const Place& loop, const Dependence& dependence) const {
  const StatementId id = dependence.from;
  if (tree_.loops[loop.node->loop].kind != LoopKind::kVector || id != dependence.to ||
      !EffectsOf(tensors_, statements_[id]).conditional) {
    return false;
  }
  const auto storage = std::ranges::find(storages_, dependence.tensor, &Storage::home);
  return KeepTurns(ctx_, id, {statements_[id], times_[id], loop.depth}, *storage);
}

// { time(b) - time(a) : a -> b a dependence }
isl::Set Check::Differences(const Dependence& dependence) const {
  isl_map* times =
      isl_map_apply_domain(dependence.instances.copy(), times_[dependence.from].copy());
  times = isl_map_apply_range(times, times_[dependence.to].copy());
  return isl::Set(isl_map_deltas(times));
}

isl::Set Check::EqualBefore(isl::Set differences, size_t depth) const {
  isl_set* set = differences.take();
  for (size_t i = 0; i < depth; ++i) {
    set = isl_set_fix_si(set, isl_dim_set, static_cast<unsigned>(i), 0);
  }
  return isl::Set(set);
}

// Values of a statement's iterators, from coordinates of a point.
std::vector<int64_t> InstanceOf(const Statement& statement, const isl::Point& point,
                                unsigned first) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < statement.iterators.size(); ++i) {
    isl_val* value =
        isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(first + i));
    values.push_back(isl_val_get_num_si(value));
    isl_val_free(value);
  }
  return values;
}

// `acc(i=0, k=1)`
std::string InstanceText(const Statement& statement, const std::vector<int64_t>& instance) {
  std::string text;
  for (size_t i = 0; i < instance.size(); ++i) {
    text += fmt::format("{}{}={}", i > 0 ? ", " : "", statement.iterators[i].name, instance[i]);
  }
  return fmt::format("{}({})", statement.name, text);
}

// ` at distance (t 1, i -1)`: between instances of one statement over its iterators, else over
// the loops that the two share.
std::string DistanceText(const ScheduleTree& tree, const Dependence& dependence,
                         const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::string text;
  const auto add = [&](const std::string& name, int64_t distance) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, distance);
  };
  if (dependence.from == dependence.to) {
    const std::vector<Iterator>& iterators = tree.statements[dependence.from].iterators;
    for (size_t i = 0; i < from.size(); ++i) add(iterators[i].name, to[i] - from[i]);
  } else {
    for (const VarId loop : LoopsAround(tree.root, dependence.from)) {
      const auto other = tree.forward[dependence.to].find(loop);
      if (other == tree.forward[dependence.to].end()) break;
      add(tree.loops[loop].name,
          Evaluate(other->second, to) - Evaluate(tree.forward[dependence.from].at(loop), from));
    }
  }
  return text.empty() ? text : fmt::format(" at distance ({})", text);
}

// The first violated instance of the dependence in words.
std::string Check::Describe(const isl::Set& violating, const Dependence& dependence) const {
  const isl::Map& from = times_[dependence.from];
  const isl::Map& to = times_[dependence.to];
  isl_map* pairs = isl_map_apply_range(from.copy(), isl_set_translation(violating.copy()));
  pairs = isl_map_apply_range(pairs, isl_map_reverse(to.copy()));
  pairs = isl_map_intersect(pairs, dependence.instances.copy());
  const isl::Point point(isl_set_sample_point(isl_set_lexmin(isl_map_wrap(pairs))));
  if (!point.ok() || isl_point_is_void(point.get()) != isl_bool_false) return "all";
  const Statement& source = tree_.statements[dependence.from];
  const Statement& sink = tree_.statements[dependence.to];
  const std::vector<int64_t> before = InstanceOf(source, point, 0);
  const std::vector<int64_t> after =
      InstanceOf(sink, point, static_cast<unsigned>(source.iterators.size()));
  return fmt::format("{} -> {}{}", InstanceText(source, before), InstanceText(sink, after),
                     DistanceText(tree_, dependence, before, after));
}

Status Check::ExpectNone(const isl::Set& violating, const Dependence& dependence,
                         const std::string& what) const {
  const isl_bool empty = violating.ok() ? isl_set_is_empty(violating.get()) : isl_bool_error;
  if (empty == isl_bool_true) return {};
  if (empty == isl_bool_error) {
    return isl::Failure(ctx_, fmt::format("the {} of {}", what, tensors_[dependence.tensor].name));
  }
  return Fail(ErrorCode::kIllegalSchedule, "{} of {}: the {} dependence {} is violated", what,
              tensors_[dependence.tensor].name,
              dependence.kind == DependenceKind::kFlow ? "flow" : "storage",
              Describe(violating, dependence));
}

// No difference may be lexicographically zero or negative.
Status Check::CheckForward(const isl::Set& differences, const Dependence& dependence) const {
  isl::Set prefix = differences;
  for (size_t i = 0; i < length_; ++i) {
    const auto dimension = static_cast<unsigned>(i);
    const isl::Set backward(isl_set_upper_bound_si(prefix.copy(), isl_dim_set, dimension, -1));
    TUNEC_RETURN_IF_ERROR(ExpectNone(backward, dependence, "order of accesses"));
    prefix = isl::Set(isl_set_fix_si(prefix.take(), isl_dim_set, dimension, 0));
  }
  return ExpectNone(prefix, dependence, "order of accesses");
}

// No loop that runs its iterations together may have a difference.
Status Check::CheckLoops(const isl::Set& differences, const Dependence& dependence) const {
  for (const Place& loop : loops_) {
    if (!loop.Holds(dependence.from) || !loop.Holds(dependence.to)) continue;
    if (IsSumOfLanes(loop.node->loop, dependence) || TakesTurns(loop, dependence)) continue;
    const isl::Set together = EqualBefore(differences, loop.depth);
    const auto dimension = static_cast<unsigned>(loop.depth);
    const TreeLoop& tree_loop = tree_.loops[loop.node->loop];
    const std::string what =
        fmt::format("{} loop {} carries accesses", Name(tree_loop.kind), tree_loop.name);
    const isl::Set up(isl_set_lower_bound_si(together.copy(), isl_dim_set, dimension, 1));
    TUNEC_RETURN_IF_ERROR(ExpectNone(up, dependence, what));
    const isl::Set down(isl_set_upper_bound_si(together.copy(), isl_dim_set, dimension, -1));
    TUNEC_RETURN_IF_ERROR(ExpectNone(down, dependence, what));
  }
  return {};
}

// No value may pass from one thread to another.
Status Check::CheckThreads(const isl::Set& differences, const Dependence& dependence) const {
  for (size_t axis = 0; axis < kThreadAxes; ++axis) {
    const auto dimension = static_cast<unsigned>(length_ + axis);
    const isl::Set up(isl_set_lower_bound_si(differences.copy(), isl_dim_set, dimension, 1));
    TUNEC_RETURN_IF_ERROR(ExpectNone(up, dependence, "storage of one thread holds accesses"));
    const isl::Set down(isl_set_upper_bound_si(differences.copy(), isl_dim_set, dimension, -1));
    TUNEC_RETURN_IF_ERROR(ExpectNone(down, dependence, "storage of one thread holds accesses"));
  }
  return {};
}

// A copy that is begun some iterations ahead must not need what these still write.
Status Check::CheckPipelines(const isl::Set& differences, const Dependence& dependence) const {
  for (const Place& place : pipelines_) {
    const TreeLoop& loop = tree_.loops[place.node->loop];
    const auto& copies = loop.pipeline.copies;
    const bool is_copied = std::ranges::find(copies, dependence.to) != copies.end();
    if (!is_copied || dependence.kind != DependenceKind::kFlow) continue;
    if (!place.Holds(dependence.from)) continue;
    const auto dimension = static_cast<unsigned>(place.depth);
    const isl::Set together = EqualBefore(differences, place.depth);
    const isl::Set near(
        isl_set_upper_bound_si(together.copy(), isl_dim_set, dimension, loop.pipeline.stages - 1));
    TUNEC_RETURN_IF_ERROR(
        ExpectNone(near, dependence, fmt::format("pipelined loop {} copies accesses", loop.name)));
  }
  return {};
}

Status Check::CheckDependence(const Dependence& dependence) const {
  isl::Set differences = Differences(dependence);
  if (const Place* stage = StageOf(dependence.tensor)) {
    isl::Set within = EqualBefore(differences, stage->depth);
    if (dependence.kind == DependenceKind::kFlow) {
      const isl::Set escaping(isl_set_subtract(differences.take(), within.copy()));
      TUNEC_RETURN_IF_ERROR(
          ExpectNone(escaping, dependence, "a value passes between runs of the stage"));
    }
    // Each run of the stage has its own storage, so reuse between runs is void.
    differences = std::move(within);
    if (IsPrivate(stage->node->scope)) {
      TUNEC_RETURN_IF_ERROR(CheckThreads(differences, dependence));
    }
  }
  if (order_ == ReductionOrder::kAsWritten || !IsOwnReduction(dependence)) {
    TUNEC_RETURN_IF_ERROR(CheckForward(differences, dependence));
  }
  TUNEC_RETURN_IF_ERROR(CheckPipelines(differences, dependence));
  return CheckLoops(differences, dependence);
}

void CollectStages(const TreeNode& node, std::vector<const TreeNode*>& stages) {
  if (node.kind == TreeNode::Kind::kAlloc) stages.push_back(&node);
  for (const TreeNode& child : node.children) CollectStages(child, stages);
}

// Only statements inside a stage may touch its tensor.
Status CheckStages(const ScheduleTree& tree) {
  std::vector<const TreeNode*> stages;
  CollectStages(tree.root, stages);
  for (const TreeNode* stage : stages) {
    const std::vector<StatementId> inside = StatementsBelow(*stage);
    const auto touches = [&](const auto& access) { return access.tensor == stage->tensor; };
    for (size_t s = 0; s < tree.statements.size(); ++s) {
      if (std::ranges::find(inside, static_cast<StatementId>(s)) != inside.end()) continue;
      const Statement& statement = tree.statements[s];
      if (std::ranges::any_of(statement.reads, touches) ||
          std::ranges::any_of(statement.writes, touches)) {
        return Fail(ErrorCode::kIllegalSchedule, "stage of {}: statement {} outside it uses it",
                    tree.tensors[stage->tensor].name, statement.name);
      }
    }
  }
  return {};
}

}  // namespace

Status Dependences::CheckStorages(const ScheduleTree& tree, ReductionOrder order,
                                  const std::vector<bool>& proven) const {
  if (std::ranges::find(proven, false) == proven.end()) return {};
  isl_ctx* ctx = impl_->context.get();
  const class Check check(ctx, {impl_->tensors, impl_->statements, tree, order}, impl_->storages);
  for (size_t i = 0; i < proven.size(); ++i) {
    if (proven[i]) continue;
    TUNEC_ASSIGN(const std::vector<Dependence>* through, impl_->Through(i));
    for (const Dependence& dependence : *through) {
      TUNEC_RETURN_IF_ERROR(check.CheckDependence(dependence));
    }
  }
  return {};
}

Status Dependences::Check(const ScheduleTree& tree, ReductionOrder order) const {
  TUNEC_CHECK(tree.statements.size() == impl_->statements.size(),
              "the tree has {} statements, the dependences {}", tree.statements.size(),
              impl_->statements.size());
  isl_ctx_reset_error(impl_->context.get());
  isl_ctx_reset_operations(impl_->context.get());
  TUNEC_RETURN_IF_ERROR(CheckStages(tree));
  TUNEC_RETURN_IF_ERROR(CheckInstances(tree, impl_->context.get()));
  const ProofInput input{impl_->tensors, impl_->statements, tree, order};
  return CheckStorages(tree, order, ProveOrder(input, impl_->storages));
}

Status Dependences::CheckExactly(const ScheduleTree& tree, ReductionOrder order) const {
  isl_ctx_reset_error(impl_->context.get());
  isl_ctx_reset_operations(impl_->context.get());
  TUNEC_RETURN_IF_ERROR(CheckStages(tree));
  TUNEC_RETURN_IF_ERROR(CheckInstances(tree, impl_->context.get()));
  return CheckStorages(tree, order, std::vector<bool>(impl_->storages.size(), false));
}

}  // namespace tunec
