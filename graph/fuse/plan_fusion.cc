// An edge joins two groups only if one kernel can compute both (fuse_rules.h), fusion takes no more
// time (edge_cost.h), and no other path connects the groups (node_groups.h). Then siblings, which
// read one value, are joined. Nodes that need no kernel are removed (plan_views.h), and the others
// are grouped again. Finally, small groups are recomputed in their readers if this saves time
// (fuse_copies.h).
#include "graph/fuse/plan_fusion.h"

#include <algorithm>
#include <functional>
#include <map>

#include "graph/cost/fuse_cost.h"
#include "graph/fuse/edge_cost.h"
#include "graph/fuse/fuse_copies.h"
#include "graph/fuse/fuse_rules.h"
#include "graph/fuse/node_groups.h"
#include "graph/fuse/plan_views.h"
#include "support/trace.h"

namespace tunec {
namespace {

// Greatest number of inputs and outputs of two groups that are joined as siblings.
constexpr size_t kMostSiblingArguments = 12;
// Greatest number of users of one value that are compared in pairs as possible siblings.
constexpr size_t kMostSiblings = 8;
// Greatest number of rounds that plan views and group the other nodes again.
constexpr int kMostRounds = 3;

// Returns for each node whether it computes and a graph output depends on it.
std::vector<bool> LiveNodes(const Graph& graph) {
  std::vector<bool> live(graph.nodes().size());
  for (const ValueId output : graph.outputs()) live[graph.value(output).producer.index] = true;
  for (size_t n = live.size(); n-- > 0;) {
    if (!live[n]) continue;
    for (const ValueId input : graph.nodes()[n].inputs)
      if (input.valid()) live[graph.value(input).producer.index] = true;
  }
  for (size_t n = 0; n < live.size(); ++n) live[n] = live[n] && !IsLeaf(graph.nodes()[n].op);
  return live;
}

class Planner {
 public:
  /// Makes a planner. The view nodes are in no group of the plan, but affect the order.
  Planner(const Graph& graph, const FusionMachine& machine, ViewPlan views)
      : graph_(graph),
        machine_(machine),
        groups_(graph, LiveNodes(graph)),
        views_(std::move(views)),
        is_view_(graph.nodes().size()),
        traits_(graph.nodes().size()),
        users_(graph.values().size()) {
    for (const NodeId node : views_.nodes) is_view_[node.index] = true;
    for (int32_t n = 0; n < Nodes(); ++n) {
      if (!groups_.IsLive(n)) continue;
      traits_[n] = TraitsOf(graph, graph.nodes()[n]);
      AddUses(n);
    }
  }

  FusionPlan Run(FusionMode mode) {
    for (int32_t n = 0; n < Nodes(); ++n)
      if (groups_.IsLive(n)) VisitOperands(n, mode);
    if (mode == FusionMode::kFused) JoinSiblings();
    FusionPlan plan{.groups = DescribeGroups(),
                    .edges = std::move(edges_),
                    .views = std::move(views_.views),
                    .view_nodes = std::move(views_.nodes),
                    .machine = machine_};
    SetGroupsOfEdges(plan);
    SetLayouts(plan);
    return plan;
  }

 private:
  int32_t Nodes() const { return static_cast<int32_t>(graph_.nodes().size()); }

  void SetGroupsOfEdges(FusionPlan& plan) const {
    std::vector<int32_t> group_of(graph_.nodes().size(), -1);
    for (size_t g = 0; g < plan.groups.size(); ++g)
      for (const NodeId node : plan.groups[g].nodes) group_of[node.index] = static_cast<int32_t>(g);
    for (FusionEdge& edge : plan.edges) {
      edge.from = group_of[graph_.value(edge.value).producer.index];
      edge.into = group_of[edge.consumer.index];
      if (edge.reason == FusionReason::kSiblings) edge.from = edge.into;
      // A later edge joined both groups.
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

  void AddUses(int32_t node) {
    for (const ValueId input : graph_.nodes()[node].inputs) {
      if (!input.valid()) continue;
      std::vector<NodeId>& users = users_[input.index];
      if (users.empty() || users.back() != NodeId{node}) users.push_back({node});
    }
  }

  // Returns the live nodes that read the value, each once, in graph order.
  const std::vector<NodeId>& LiveUsers(ValueId value) const { return users_[value.index]; }

  // Visits the latest operand first. So an addition of two contractions is fused with the later
  // contraction if possible.
  void VisitOperands(int32_t node, FusionMode mode) {
    std::vector<ValueId> operands;
    for (const ValueId input : graph_.nodes()[node].inputs)
      if (input.valid() && groups_.IsLive(graph_.value(input).producer.index))
        operands.push_back(input);
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
        Join(groups_.GroupOf(value), groups_.GroupOf(node), edge.cost.times_computed);
    }
  }

  void Decide(FusionEdge& edge) {
    const int32_t node = edge.consumer.index;
    const int32_t from = groups_.GroupOf(edge.value);
    const int32_t into = groups_.GroupOf(node);
    edge.reason = ReasonOfViewOrGroup(edge.value, node);
    if (edge.reason != FusionReason::kOpaque) return;
    const FusionQuestion question{.value = edge.value,
                                  .producer = traits_[from],
                                  .consumer = graph_.nodes()[node],
                                  .into = traits_[into],
                                  .users = LiveUsers(edge.value)};
    edge.reason = DecideFusion(graph_, question);
    if (edge.reason == FusionReason::kChain && !machine_.chains)
      edge.reason = FusionReason::kTwoContractions;
    edge.cost = CostOfEdge(graph_, question, machine_);
    if (!IsFused(edge.reason)) return;
    edge.cost.live_values = LiveTogether(from, into);
    if (traits_[from].nodes + traits_[into].nodes > kMostNodes ||
        groups_.CountInputs(from, into) > kMostInputs)
      edge.reason = FusionReason::kTooLarge;
    else if (SecondsSaved(edge.cost, machine_) < 0)
      edge.reason = FusionReason::kCostsMore;
    else if (groups_.HasOtherPath(from, into))
      edge.reason = FusionReason::kCycle;
  }

  // Returns the reason if the producer or the reader `node` is a view, or both are in one group.
  // Otherwise returns kOpaque.
  FusionReason ReasonOfViewOrGroup(ValueId value, int32_t node) {
    const int32_t producer = graph_.value(value).producer.index;
    if (is_view_[node])
      return graph_.nodes()[node].op == Op::kConcat ? FusionReason::kConcatInPlace
                                                    : FusionReason::kViewed;
    if (is_view_[producer]) return FusionReason::kReadInPlace;
    return groups_.GroupOf(producer) == groups_.GroupOf(node) ? FusionReason::kSameGroup
                                                              : FusionReason::kOpaque;
  }

  int LiveTogether(int32_t a, int32_t b) const {
    std::vector<int32_t> members;
    std::ranges::merge(groups_.Members(a), groups_.Members(b), std::back_inserter(members));
    std::vector<NodeId> body;
    for (const int32_t member : members)
      if (PatternOf(graph_.nodes()[member].op) == OpPattern::kElementwise) body.push_back({member});
    return LiveValues(graph_, body);
  }

  void Join(int32_t from, int32_t into, double times) {
    if (from == into) return;  // an edge of another operand joined them before
    traits_[into] = Merge(traits_[from], traits_[into], times);
    groups_.Join(from, into);
  }

  // Joins groups that read one value in the same loops if costs and limits allow it, unless a path
  // connects the groups.
  void JoinSiblings() {
    groups_.KeepOrder();
    for (size_t v = 0; v < users_.size(); ++v) {
      const ValueId value{static_cast<int32_t>(v)};
      const std::vector<NodeId> users = LiveUsers(value);
      for (size_t b = 1; b < std::min(users.size(), kMostSiblings); ++b)
        for (size_t a = 0; a < b; ++a) JoinSibling(value, users[a].index, users[b].index);
    }
  }

  void JoinSibling(ValueId value, int32_t first, int32_t next) {
    const int32_t a = groups_.GroupOf(first);
    const int32_t b = groups_.GroupOf(next);
    if (a == b || is_view_[a] || is_view_[b] || !AreSiblings(traits_[a], traits_[b])) return;
    if (ShapeOf(a) != ShapeOf(b) || ShapeOf(a).empty()) return;
    if (traits_[a].nodes + traits_[b].nodes > kMostNodes) return;
    if (groups_.CountInputs(a, b) + groups_.CountOutputs(a) + groups_.CountOutputs(b) >
        kMostSiblingArguments)
      return;
    // The value is then read once, and one launch is saved.
    const FusionCost cost{.bytes_saved = BytesOf(graph_, value), .launches_saved = 1};
    if (SecondsSaved(cost, machine_) <= 0) return;
    const int32_t left = groups_.JoinApart(a, b);
    if (left < 0) return;
    traits_[left] = Merge(traits_[left == a ? b : a], traits_[left]);
    edges_.push_back({.value = value,
                      .consumer = NodeId{next},
                      .reason = FusionReason::kSiblings,
                      .cost = cost});
  }

  // Returns the extents of a group's loops: the shape whose rows are reduced, or the common shape
  // of the results. Returns an empty shape if the results have different shapes.
  std::vector<int64_t> ShapeOf(int32_t group) {
    if (traits_[group].rows) return traits_[group].rows->shape;
    std::vector<int64_t> shape;
    for (const int32_t member : groups_.Members(group))
      for (const ValueId output : graph_.nodes()[member].outputs) {
        if (!groups_.IsNeededOutside(output, group)) continue;
        const std::vector<int64_t> own = graph_.value(output).type.Shape();
        if (!shape.empty() && own != shape) return {};
        shape = own;
      }
    return shape;
  }

  std::vector<FusionGroup> DescribeGroups() {
    std::vector<FusionGroup> groups;
    for (const int32_t group : groups_.Order())
      if (!is_view_[group]) groups.push_back(groups_.Describe(group));
    return groups;
  }

  const Graph& graph_;
  const FusionMachine& machine_;
  NodeGroups groups_;
  ViewPlan views_;
  std::vector<bool> is_view_;
  std::vector<GroupTraits> traits_;         // by id of the group
  std::vector<std::vector<NodeId>> users_;  // live users of each value
  std::vector<FusionEdge> edges_;
};

}  // namespace

Result<FusionPlan> PlanFusion(const Graph& graph, FusionMode mode, const FusionMachine& machine) {
  const TraceScope scope("fuse");
  for (const Node& node : graph.nodes())
    for (const ValueId output : node.outputs)
      if (!graph.value(output).type.IsFixed())
        return Fail(ErrorCode::kUnsupported, "'{}' has a dimension that is not fixed",
                    graph.value(output).name);
  FusionPlan plan = Planner(graph, machine, {}).Run(mode);
  if (mode == FusionMode::kUnfused) return plan;
  // Nodes that become views leave their groups. The smaller groups may allow more views.
  for (int round = 0; round < kMostRounds; ++round) {
    ViewPlan views = PlanViews(graph, plan);
    if (views.nodes == plan.view_nodes) break;
    plan = Planner(graph, machine, std::move(views)).Run(mode);
  }
  RecomputeInReaders(graph, plan);
  return plan;
}

}  // namespace tunec
