// Groups are the classes of a union-find over the nodes. The quotient graph stays acyclic:
// a consumer's group and a producer's are joined only when no other path leads from the one
// to the other, which a search between the two finds out.
#include "graph/fuse/plan_fusion.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "graph/cost/fuse_cost.h"
#include "graph/fuse/edge_cost.h"
#include "graph/fuse/fuse_copies.h"
#include "graph/fuse/fuse_rules.h"
#include "graph/fuse/place_views.h"

namespace tunec {
namespace {

// Arguments of one kernel with siblings: all of them are streams in one loop.
constexpr size_t kMostSiblingArguments = 12;
// Groups between two siblings that are looked at for a path; beyond it they are not joined.
constexpr size_t kMostBetween = 256;
// Users of one value that are compared with each other.
constexpr size_t kMostSiblings = 8;
constexpr int32_t kNoGroup = -1;  // a place in an order that a joined group left
// Groups looked at for a cycle, for one edge; beyond it the edge is not fused.
constexpr int kSearchLimit = 2000;
// Of placing views and grouping again.
constexpr int kMostRounds = 3;

bool IsComputed(const Node& node) { return node.op != Op::kInput && node.op != Op::kConstant; }

class Planner {
 public:
  /// The view nodes stay out of all groups, but order them.
  Planner(const Graph& graph, const FusionMachine& machine, ViewPlan views)
      : graph_(graph), machine_(machine), users_(graph.Users()), views_(std::move(views)) {
    const size_t count = graph.nodes().size();
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), 0);
    members_.resize(count);
    traits_.resize(count);
    live_ = LiveNodes();
    is_view_.resize(count);
    for (const NodeId node : views_.nodes) is_view_[node.index] = true;
    for (int32_t n = 0; n < static_cast<int32_t>(count); ++n) {
      members_[n] = {n};
      if (live_[n]) traits_[n] = TraitsOf(graph, graph.nodes()[n]);
      if (live_[n]) AddUses(n);
    }
  }

  FusionPlan Run(FusionMode mode) {
    for (int32_t n = 0; n < static_cast<int32_t>(live_.size()); ++n)
      if (live_[n]) VisitOperands(n, mode);
    if (mode == FusionMode::kFused) JoinSiblings();
    FusionPlan plan{.groups = Groups(),
                    .edges = std::move(edges_),
                    .views = std::move(views_.views),
                    .view_nodes = std::move(views_.nodes),
                    .machine = machine_};
    SetGroupsOfEdges(plan);
    SetLayouts(plan);
    return plan;
  }

 private:
  void SetGroupsOfEdges(FusionPlan& plan) const {
    std::vector<int32_t> group_of(live_.size(), -1);
    for (size_t g = 0; g < plan.groups.size(); ++g)
      for (const NodeId node : plan.groups[g].nodes) group_of[node.index] = static_cast<int32_t>(g);
    for (FusionEdge& edge : plan.edges) {
      edge.from = group_of[graph_.value(edge.value).producer.index];
      edge.into = group_of[edge.consumer.index];
      if (edge.reason == FusionReason::kSiblings) edge.from = edge.into;
      // A later edge joined the two.
      if (edge.from >= 0 && edge.from == edge.into && !IsFused(edge.reason))
        edge.reason = FusionReason::kSameGroup;
    }
  }

  static void SetLayouts(FusionPlan& plan) {
    std::map<ValueId, const Layout*> layouts;
    for (const StorageView& view : plan.views) layouts[view.value] = &view.layout;
    for (FusionGroup& group : plan.groups)
      for (const auto* values : {&group.inputs, &group.outputs})
        for (const ValueId value : *values)
          if (const auto view = layouts.find(value); view != layouts.end())
            group.layouts[value] = *view->second;
  }

  int32_t GroupOf(int32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  // Computing nodes that a graph output depends on.
  std::vector<bool> LiveNodes() const {
    std::vector<bool> live(graph_.nodes().size());
    for (const ValueId output : graph_.outputs()) live[graph_.value(output).producer.index] = true;
    for (size_t n = live.size(); n-- > 0;) {
      if (!live[n]) continue;
      for (const ValueId input : graph_.nodes()[n].inputs)
        if (input.valid()) live[graph_.value(input).producer.index] = true;
    }
    for (size_t n = 0; n < live.size(); ++n) live[n] = live[n] && IsComputed(graph_.nodes()[n]);
    return live;
  }

  void AddUses(int32_t node) {
    for (const ValueId input : graph_.nodes()[node].inputs) {
      if (!input.valid()) continue;
      std::vector<NodeId>& users = live_users_[input.index];
      if (users.empty() || users.back() != NodeId{node}) users.push_back({node});
    }
  }

  // Each once, in graph order.
  const std::vector<NodeId>& LiveUsers(ValueId value) const { return live_users_[value.index]; }

  // The latest operand first: of two contractions that an addition joins, the one before it
  // takes it, and the other's result is read.
  void VisitOperands(int32_t node, FusionMode mode) {
    std::vector<ValueId> operands;
    for (const ValueId input : graph_.nodes()[node].inputs)
      if (input.valid() && live_[graph_.value(input).producer.index]) operands.push_back(input);
    std::ranges::sort(operands, std::greater<>(), &ValueId::index);
    const auto repeated = std::ranges::unique(operands);
    operands.erase(repeated.begin(), repeated.end());
    for (const ValueId value : operands) {
      FusionEdge edge{.value = value,
                      .consumer = NodeId{node},
                      .reason = FusionReason::kUnfusedMode,
                      .cost = CostOfFusing(graph_, value, LiveUsers(value).size())};
      if (mode == FusionMode::kFused) Decide(edge);
      edges_.push_back(edge);
      if (IsFused(edge.reason))
        Join(GroupOf(graph_.value(value).producer.index), GroupOf(node), edge.cost.times_computed);
    }
  }

  void Decide(FusionEdge& edge) {
    const int32_t node = edge.consumer.index;
    const int32_t from = GroupOf(graph_.value(edge.value).producer.index);
    const int32_t into = GroupOf(node);
    edge.reason = ReasonOfPlace(edge.value, node);
    if (edge.reason != FusionReason::kOpaque) return;
    const FusionQuestion question{.value = edge.value,
                                  .producer = traits_[from],
                                  .consumer = graph_.nodes()[node],
                                  .into = traits_[into],
                                  .users = LiveUsers(edge.value)};
    edge.reason = Judge(graph_, question);
    edge.cost = CostOfEdge(graph_, question, machine_);
    if (!IsFused(edge.reason)) return;
    edge.cost.live_values = LiveTogether(from, into);
    if (traits_[from].nodes + traits_[into].nodes > kMostNodes ||
        CountInputs(from, into) > kMostInputs)
      edge.reason = FusionReason::kTooLarge;
    else if (SecondsSaved(edge.cost, machine_) < 0)
      edge.reason = FusionReason::kCostsMore;
    else if (HasOtherPath(from, into))
      edge.reason = FusionReason::kCycle;
  }

  // What is settled by where the two nodes are; kOpaque leaves it open.
  FusionReason ReasonOfPlace(ValueId value, int32_t node) {
    const int32_t producer = graph_.value(value).producer.index;
    if (is_view_[node])
      return graph_.nodes()[node].op == Op::kConcat ? FusionReason::kConcatInPlace
                                                    : FusionReason::kViewed;
    if (is_view_[producer]) return FusionReason::kReadInPlace;
    return GroupOf(producer) == GroupOf(node) ? FusionReason::kSameGroup : FusionReason::kOpaque;
  }

  int LiveTogether(int32_t a, int32_t b) const {
    std::vector<int32_t> members;
    std::ranges::merge(members_[a], members_[b], std::back_inserter(members));
    std::vector<NodeId> body;
    for (const int32_t member : members)
      if (PatternOf(graph_.nodes()[member].op) == OpPattern::kElementwise) body.push_back({member});
    return LiveValues(graph_, body);
  }

  size_t CountInputs(int32_t a, int32_t b) {
    std::set<int32_t> inputs;
    for (const int32_t group : {a, b})
      for (const int32_t member : members_[group])
        for (const ValueId input : graph_.nodes()[member].inputs)
          if (input.valid() && !IsIn(input, a) && !IsIn(input, b)) inputs.insert(input.index);
    return inputs.size();
  }

  bool IsIn(ValueId value, int32_t group) {
    return GroupOf(graph_.value(value).producer.index) == group;
  }

  // The groups that read what `group` makes.
  std::set<int32_t> Successors(int32_t group) {
    std::set<int32_t> successors;
    for (const int32_t member : members_[group])
      for (const ValueId output : graph_.nodes()[member].outputs)
        for (const NodeId user : users_[output.index])
          if (live_[user.index]) successors.insert(GroupOf(user.index));
    successors.erase(group);
    return successors;
  }

  // Whether a path leads from group `from` to group `into` through a third one. Nodes after
  // the last of `into` are groups of their own and lead nowhere back.
  bool HasOtherPath(int32_t from, int32_t into) {
    const int32_t last = members_[into].back();
    std::set<int32_t> seen = Successors(from);
    seen.erase(into);
    std::vector<int32_t> pending(seen.begin(), seen.end());
    int searched = 0;
    while (!pending.empty()) {
      const int32_t group = pending.back();
      pending.pop_back();
      if (members_[group].front() > last) continue;
      if (++searched > kSearchLimit) return true;
      for (const int32_t next : Successors(group)) {
        if (next == into) return true;
        if (next != from && seen.insert(next).second) pending.push_back(next);
      }
    }
    return false;
  }

  void Join(int32_t from, int32_t into, double times) {
    if (from == into) return;  // joined before, through another operand
    traits_[into] = Merge(traits_[from], traits_[into], times);
    parent_[from] = into;
    std::vector<int32_t> merged;
    std::ranges::merge(members_[from], members_[into], std::back_inserter(merged));
    members_[into] = std::move(merged);
    members_[from].clear();
  }

  // Groups that read one value in the same loops become one, where no path leads from one to
  // the other.
  void JoinSiblings() {
    order_ = Order();
    for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
    for (size_t v = 0; v < users_.size(); ++v) {
      const ValueId value{static_cast<int32_t>(v)};
      const std::vector<NodeId> users = LiveUsers(value);
      for (size_t b = 1; b < std::min(users.size(), kMostSiblings); ++b)
        for (size_t a = 0; a < b; ++a) JoinSibling(value, users[a].index, users[b].index);
    }
  }

  void JoinSibling(ValueId value, int32_t first, int32_t next) {
    const int32_t a = GroupOf(first);
    const int32_t b = GroupOf(next);
    if (a == b || is_view_[a] || is_view_[b] || !AreSiblings(traits_[a], traits_[b])) return;
    if (ShapeOf(a) != ShapeOf(b) || ShapeOf(a).empty()) return;
    if (traits_[a].nodes + traits_[b].nodes > kMostNodes) return;
    if (CountInputs(a, b) + CountOutputs(a) + CountOutputs(b) > kMostSiblingArguments) return;
    // What both read is read once; the rest of each is as it was.
    const FusionCost cost{.bytes_saved = BytesOf(graph_, value), .launches_saved = 1};
    if (SecondsSaved(cost, machine_) <= 0 || !Contract(a, b)) return;
    edges_.push_back({.value = value,
                      .consumer = NodeId{next},
                      .reason = FusionReason::kSiblings,
                      .cost = cost});
  }

  // The loops of a group by itself: the rows it reduces, or the shape that all it writes has.
  std::vector<int64_t> ShapeOf(int32_t group) {
    if (traits_[group].rows) return traits_[group].rows->shape;
    std::vector<int64_t> shape;
    for (const int32_t member : members_[group])
      for (const ValueId output : graph_.nodes()[member].outputs) {
        if (!IsNeededOutside(output, group)) continue;
        const std::vector<int64_t> own = graph_.value(output).type.Shape();
        if (!shape.empty() && own != shape) return {};
        shape = own;
      }
    return shape;
  }

  size_t CountOutputs(int32_t group) {
    size_t count = 0;
    for (const int32_t member : members_[group])
      for (const ValueId output : graph_.nodes()[member].outputs)
        count += IsNeededOutside(output, group) ? 1 : 0;
    return count;
  }

  // Joins two groups unless one waits for the other, and keeps the order: of the groups between
  // them, those that wait for the earlier one go behind. O(edges of the groups between).
  bool Contract(int32_t a, int32_t b) {
    if (position_[a] > position_[b]) std::swap(a, b);
    const size_t begin = position_[a];
    const size_t end = position_[b];
    if (end - begin > kMostBetween) return false;
    std::set<int32_t> after = Successors(a);
    for (size_t i = begin + 1; i < end; ++i)
      if (after.contains(order_[i])) after.merge(Successors(order_[i]));
    if (after.contains(b)) return false;
    std::vector<int32_t> between(order_.begin() + static_cast<ptrdiff_t>(begin) + 1,
                                 order_.begin() + static_cast<ptrdiff_t>(end));
    const auto waits = std::ranges::stable_partition(
        between, [&](int32_t group) { return !after.contains(group); });
    Join(a, b, /*times=*/1);
    between.insert(waits.begin(), b);
    order_[begin] = kNoGroup;
    for (size_t i = 0; i < between.size(); ++i) {
      order_[begin + 1 + i] = between[i];
      if (between[i] != kNoGroup) position_[between[i]] = begin + 1 + i;
    }
    return true;
  }

  std::vector<FusionGroup> Groups() {
    std::vector<FusionGroup> groups;
    for (const int32_t group : Order())
      if (!is_view_[group]) groups.push_back(Describe(group));
    return groups;
  }

  // All groups in an order that respects data flow; among ready groups, the one that ends first.
  std::vector<int32_t> Order() {
    using Entry = std::pair<int32_t, int32_t>;  // last member, group
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    std::vector<std::set<int32_t>> waits(live_.size());
    for (int32_t n = 0; n < static_cast<int32_t>(live_.size()); ++n)
      if (live_[n])
        for (const int32_t next : GroupOf(n) == n ? Successors(n) : std::set<int32_t>{})
          waits[next].insert(n);
    for (int32_t n = 0; n < static_cast<int32_t>(live_.size()); ++n)
      if (live_[n] && GroupOf(n) == n && waits[n].empty()) ready.emplace(members_[n].back(), n);
    std::vector<int32_t> order;
    while (!ready.empty()) {
      const int32_t group = ready.top().second;
      ready.pop();
      order.push_back(group);
      for (const int32_t next : Successors(group)) {
        waits[next].erase(group);
        if (waits[next].empty()) ready.emplace(members_[next].back(), next);
      }
    }
    return order;
  }

  FusionGroup Describe(int32_t id) {
    FusionGroup group;
    for (const int32_t member : members_[id]) {
      group.nodes.push_back({member});
      for (const ValueId input : graph_.nodes()[member].inputs)
        if (input.valid() && !IsIn(input, id) &&
            std::ranges::find(group.inputs, input) == group.inputs.end())
          group.inputs.push_back(input);
      for (const ValueId output : graph_.nodes()[member].outputs)
        if (IsNeededOutside(output, id)) group.outputs.push_back(output);
    }
    return group;
  }

  bool IsNeededOutside(ValueId value, int32_t group) {
    if (graph_.IsOutput(value)) return true;
    return std::ranges::any_of(users_[value.index], [&](NodeId user) {
      return live_[user.index] && GroupOf(user.index) != group;
    });
  }

  const Graph& graph_;
  const FusionMachine& machine_;
  const std::vector<std::vector<NodeId>> users_;
  ViewPlan views_;
  std::vector<bool> is_view_;
  std::vector<bool> live_;
  std::vector<std::vector<NodeId>> live_users_ =
      std::vector<std::vector<NodeId>>(graph_.values().size());
  std::vector<int32_t> parent_;
  std::vector<std::vector<int32_t>> members_;  // of groups, in graph order
  std::vector<GroupTraits> traits_;            // of groups
  std::vector<FusionEdge> edges_;
  std::vector<int32_t> order_;          // of groups, while siblings are joined
  std::map<int32_t, size_t> position_;  // in it
};

}  // namespace

Result<FusionPlan> PlanFusion(const Graph& graph, FusionMode mode, const FusionMachine& machine) {
  for (const Node& node : graph.nodes())
    for (const ValueId output : node.outputs)
      if (!graph.value(output).type.IsFixed())
        return Fail(ErrorCode::kUnsupported, "'{}' has a dimension that is not fixed",
                    graph.value(output).name);
  FusionPlan plan = Planner(graph, machine, {}).Run(mode);
  if (mode == FusionMode::kUnfused) return plan;
  // Views leave nodes without their groups, which may make more views.
  for (int round = 0; round < kMostRounds; ++round) {
    ViewPlan views = PlaceViews(graph, plan);
    if (views.nodes == plan.view_nodes) break;
    plan = Planner(graph, machine, std::move(views)).Run(mode);
  }
  RecomputeInReaders(graph, plan);
  return plan;
}

}  // namespace tunec
