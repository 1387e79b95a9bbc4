// The check of legality, in which isl decides what the quick proof (order_proof.h) does not.
//
// An instance's time is the vector of its positions in sequences and its loops' values, from the
// root of the tree down (relations.h). The times of two statements both have entries for their
// common nodes; at the sequence where their paths separate, the entries differ. So the
// lexicographic comparison of times gives the order of execution. A dependence a -> b runs forward
// if time(a) < time(b). A loop carries the dependence if all entries before the loop's are equal
// and the loop's entry differs.
#include "polyhedral/legality/legality.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/nest/loop_nest_names.h"
#include "polyhedral/dependence_data.h"
#include "polyhedral/effects.h"
#include "polyhedral/isl_handles.h"
#include "polyhedral/legality/instances.h"
#include "polyhedral/legality/lane_turns.h"
#include "polyhedral/legality/order_proof.h"
#include "polyhedral/legality/order_questions.h"
#include "polyhedral/relations.h"
#include "support/check.h"

namespace tunec {
namespace {

// A question about one dependence, with the sets that isl needs to answer it.
struct DependenceQuestion {
  const OrderQuestion& question;
  const Dependence& dependence;
  const isl::Set& differences;  // differences of the times of its ends
  isl::Set together;            // differences whose first `question.depth` entries are 0
};

// The check of one tree's order by isl. Each dependence is mapped to the set of differences between
// the times of its ends. A question is then answered by testing whether some of these differences
// have a forbidden form. TakesTurns is an exception for vector loops.
class OrderCheck {
 public:
  OrderCheck(isl_ctx* ctx, const ProofInput& input, const std::vector<OrderQuestion>& questions,
             const std::vector<WrittenStorage>& storages)
      : ctx_(ctx), input_(input), tree_(input.tree), questions_(questions), storages_(storages) {
    BuildTimes();
  }

  Status CheckDependence(const Dependence& dependence) const;

 private:
  void BuildTimes();
  isl::Set Differences(const Dependence& dependence) const;
  isl::Set EqualBefore(isl::Set differences, size_t depth) const;
  std::string Describe(const isl::Set& violating, const Dependence& dependence) const;
  Status ExpectNone(const isl::Set& violating, const Dependence& dependence,
                    const std::string& what) const;
  Status ExpectZero(const isl::Set& differences, size_t entry, const Dependence& dependence,
                    const std::string& what) const;
  Status Answer(const StaysInRun& run, const DependenceQuestion& asked) const;
  Status Answer(const StaysInThread& thread, const DependenceQuestion& asked) const;
  Status Answer(const RunsForward& forward, const DependenceQuestion& asked) const;
  Status Answer(const IsCopiedAhead& ahead, const DependenceQuestion& asked) const;
  Status Answer(const IsNotCarried& loop, const DependenceQuestion& asked) const;
  bool TakesTurns(VarId loop, const DependenceQuestion& asked) const;

  isl_ctx* ctx_;
  const ProofInput& input_;
  const ScheduleTree& tree_;
  const std::vector<OrderQuestion>& questions_;
  const std::vector<WrittenStorage>& storages_;
  size_t length_ = 0;  // length of times; `times_` also has the thread's numbers, after the times
  IdVector<StatementId, isl::Map> times_;
};

void OrderCheck::BuildTimes() {
  IdVector<StatementId, std::vector<IndexExpr>> times;
  for (const StatementId s : tree_.statements.ids()) {
    times.push_back(TimeOf(tree_, s));
    length_ = std::max(length_, times.back().size());
  }
  for (const StatementId s : times.ids()) {
    times[s].resize(length_, IndexExpr(0));
    std::ranges::copy(ThreadOf(tree_, s), std::back_inserter(times[s]));
    const std::string text = TimeText(s, tree_.statements[s], times[s]);
    times_.push_back(isl::Map(isl_map_read_from_str(ctx_, text.c_str())));
  }
}

// Returns { time(b) - time(a) : a -> b } for the pairs of the dependence, as entries of `times_`.
isl::Set OrderCheck::Differences(const Dependence& dependence) const {
  isl_map* times =
      isl_map_apply_domain(dependence.instances.copy(), times_[dependence.from].copy());
  times = isl_map_apply_range(times, times_[dependence.to].copy());
  return isl::Set(isl_map_deltas(times));
}

isl::Set OrderCheck::EqualBefore(isl::Set differences, size_t depth) const {
  isl_set* set = differences.take();
  for (size_t i = 0; i < depth; ++i) {
    set = isl_set_fix_si(set, isl_dim_set, static_cast<unsigned>(i), 0);
  }
  return isl::Set(set);
}

// Returns the values of a statement's iterators from coordinates of a point.
std::vector<int64_t> InstanceOf(const Statement& statement, const isl::Point& point,
                                unsigned first) {
  std::vector<int64_t> values;
  for (const VarId i : statement.iterators.ids()) {
    isl_val* value =
        isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(first + i.index()));
    values.push_back(isl_val_get_num_si(value));
    isl_val_free(value);
  }
  return values;
}

// Returns an instance as text, such as `acc(i=0, k=1)`.
std::string InstanceText(const Statement& statement, const std::vector<int64_t>& instance) {
  std::string text;
  for (const VarId i : statement.iterators.ids()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", statement.iterators[i].name,
                        instance[i.index()]);
  }
  return fmt::format("{}({})", statement.name, text);
}

// Returns the distance between two instances as text, such as ` at distance (t 1, i -1)`. Between
// instances of one statement the distance is over its iterators, otherwise over the shared loops.
// The text is empty if there are no such iterators or loops.
std::string DistanceText(const ScheduleTree& tree, const Dependence& dependence,
                         const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::string text;
  const auto add = [&](const std::string& name, int64_t distance) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, distance);
  };
  if (dependence.from == dependence.to) {
    const Iterators& iterators = tree.statements[dependence.from].iterators;
    for (const VarId i : iterators.ids()) {
      add(iterators[i].name, to[i.index()] - from[i.index()]);
    }
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

// Returns the lexicographically first violating pair of instances as text, with its distance.
// Returns "all" if isl cannot find the pair.
std::string OrderCheck::Describe(const isl::Set& violating, const Dependence& dependence) const {
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

Status OrderCheck::ExpectNone(const isl::Set& violating, const Dependence& dependence,
                              const std::string& what) const {
  const isl_bool empty = violating.ok() ? isl_set_is_empty(violating.get()) : isl_bool_error;
  if (empty == isl_bool_true) return {};
  if (empty == isl_bool_error) {
    return isl::Failure(ctx_,
                        fmt::format("the {} of {}", what, input_.tensors[dependence.tensor].name));
  }
  return Fail(ErrorCode::kIllegalSchedule, "{} of {}: the {} dependence {} is violated", what,
              input_.tensors[dependence.tensor].name,
              dependence.kind == DependenceKind::kFlow ? "flow" : "storage",
              Describe(violating, dependence));
}

Status OrderCheck::ExpectZero(const isl::Set& differences, size_t entry,
                              const Dependence& dependence, const std::string& what) const {
  const auto dimension = static_cast<unsigned>(entry);
  const isl::Set up(isl_set_lower_bound_si(differences.copy(), isl_dim_set, dimension, 1));
  TUNEC_RETURN_IF_ERROR(ExpectNone(up, dependence, what));
  const isl::Set down(isl_set_upper_bound_si(differences.copy(), isl_dim_set, dimension, -1));
  return ExpectNone(down, dependence, what);
}

Status OrderCheck::Answer(const StaysInRun&, const DependenceQuestion& asked) const {
  if (asked.dependence.kind != DependenceKind::kFlow) return {};
  const isl::Set escaping(isl_set_subtract(asked.differences.copy(), asked.together.copy()));
  return ExpectNone(escaping, asked.dependence, "a value passes between runs of the stage");
}

Status OrderCheck::Answer(const StaysInThread&, const DependenceQuestion& asked) const {
  for (size_t axis = 0; axis < kThreadAxes; ++axis) {
    TUNEC_RETURN_IF_ERROR(ExpectZero(asked.together, length_ + axis, asked.dependence,
                                     "storage of one thread holds accesses"));
  }
  return {};
}

// Checks that every difference is lexicographically positive.
Status OrderCheck::Answer(const RunsForward&, const DependenceQuestion& asked) const {
  isl::Set prefix = asked.together;
  for (size_t i = 0; i < length_; ++i) {
    const auto dimension = static_cast<unsigned>(i);
    const isl::Set backward(isl_set_upper_bound_si(prefix.copy(), isl_dim_set, dimension, -1));
    TUNEC_RETURN_IF_ERROR(ExpectNone(backward, asked.dependence, "order of accesses"));
    prefix = isl::Set(isl_set_fix_si(prefix.take(), isl_dim_set, dimension, 0));
  }
  return ExpectNone(prefix, asked.dependence, "order of accesses");
}

// Checks that the loop does not write a copied value, or writes the value at least as many
// iterations before the copy's iteration as the loop has stages.
Status OrderCheck::Answer(const IsCopiedAhead& ahead, const DependenceQuestion& asked) const {
  const TreeLoop& loop = tree_.loops[ahead.loop];
  const isl::Set near(isl_set_upper_bound_si(asked.together.copy(), isl_dim_set,
                                             static_cast<unsigned>(asked.question.depth),
                                             loop.pipeline.stages - 1));
  return ExpectNone(near, asked.dependence,
                    fmt::format("pipelined loop {} copies accesses", loop.name));
}

Status OrderCheck::Answer(const IsNotCarried& asks, const DependenceQuestion& asked) const {
  if (TakesTurns(asks.loop, asked)) return {};
  const TreeLoop& loop = tree_.loops[asks.loop];
  return ExpectZero(asked.together, asked.question.depth, asked.dependence,
                    fmt::format("{} loop {} carries accesses", Name(loop.kind), loop.name));
}

// Returns whether the lanes of a vector loop run the writes of one statement one after another, and
// LanesKeepOrder is true for the dependence's storage.
bool OrderCheck::TakesTurns(VarId loop, const DependenceQuestion& asked) const {
  const StatementId id = asked.dependence.from;
  const Statement& statement = input_.statements[id];
  if (tree_.loops[loop].kind != LoopKind::kVector || id != asked.dependence.to ||
      !EffectsOf(input_.tensors, statement).conditional) {
    return false;
  }
  const auto storage = std::ranges::find(storages_, asked.dependence.tensor, &WrittenStorage::home);
  return LanesKeepOrder(ctx_, id, {statement, times_[id], asked.question.depth}, *storage);
}

Status OrderCheck::CheckDependence(const Dependence& dependence) const {
  const DependenceEnds ends{dependence.from, dependence.to, dependence.tensor,
                            dependence.kind == DependenceKind::kFlow};
  isl::Set differences = Differences(dependence);
  for (const OrderQuestion& question : questions_) {
    if (!Concerns(question, input_, ends)) continue;
    const DependenceQuestion asked{question, dependence, differences,
                                   EqualBefore(differences, question.depth)};
    TUNEC_RETURN_IF_ERROR(
        std::visit([&](const auto& asks) { return Answer(asks, asked); }, question.asks));
    // Each run of the stage has separate storage, so reuse between runs is not a dependence.
    if (std::holds_alternative<StaysInRun>(question.asks)) differences = asked.together;
  }
  return {};
}

void CollectStages(const TreeNode& node, std::vector<const TreeNode*>& stages) {
  if (node.kind == TreeNode::Kind::kAlloc) stages.push_back(&node);
  for (const TreeNode& child : node.children) CollectStages(child, stages);
}

// Checks that only statements inside a stage access the staged tensor.
Status CheckStages(const ScheduleTree& tree) {
  std::vector<const TreeNode*> stages;
  CollectStages(tree.root, stages);
  for (const TreeNode* stage : stages) {
    const std::vector<StatementId> inside = StatementsBelow(*stage);
    const auto touches = [&](const auto& access) { return access.tensor == stage->tensor; };
    for (const StatementId s : tree.statements.ids()) {
      if (std::ranges::find(inside, s) != inside.end()) continue;
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

// Checks by isl the dependences through the storages for which `proven` is false.
Status CheckStorages(Dependences::Data& data, const ProofInput& input,
                     const std::vector<OrderQuestion>& questions, const std::vector<bool>& proven) {
  if (std::ranges::find(proven, false) == proven.end()) return {};
  const OrderCheck check(data.context.get(), input, questions, data.storages);
  for (size_t i = 0; i < proven.size(); ++i) {
    if (proven[i]) continue;
    TUNEC_ASSIGN(const std::vector<Dependence>* through, data.FindDependencesThrough(i));
    for (const Dependence& dependence : *through) {
      TUNEC_RETURN_IF_ERROR(check.CheckDependence(dependence));
    }
  }
  return {};
}

}  // namespace

Status CheckLegality(const Dependences& dependences, const ScheduleTree& tree,
                     ReductionOrder order) {
  Dependences::Data& data = dependences.data();
  TUNEC_CHECK(tree.statements.size() == data.statements.size(),
              "the tree has {} statements, the dependences {}", tree.statements.size(),
              data.statements.size());
  isl_ctx* ctx = data.Begin();
  TUNEC_RETURN_IF_ERROR(CheckStages(tree));
  TUNEC_RETURN_IF_ERROR(CheckInstances(tree, ctx));
  const ProofInput input{data.tensors, data.statements, tree, order};
  const std::vector<OrderQuestion> questions = QuestionsOf(tree);
  return CheckStorages(data, input, questions, ProveOrder(input, questions, data.storages));
}

Status CheckLegalityExactly(const Dependences& dependences, const ScheduleTree& tree,
                            ReductionOrder order) {
  Dependences::Data& data = dependences.data();
  isl_ctx* ctx = data.Begin();
  TUNEC_RETURN_IF_ERROR(CheckStages(tree));
  TUNEC_RETURN_IF_ERROR(CheckInstances(tree, ctx));
  const ProofInput input{data.tensors, data.statements, tree, order};
  return CheckStorages(data, input, QuestionsOf(tree),
                       std::vector<bool>(data.storages.size(), false));
}

}  // namespace tunec
