// Groups are tried from the last to the first, so that a chain of groups is recomputed from its
// end. The nodes of a recomputed group move to its readers. The empty group retains its position
// until all groups have been tried.
#include "graph/fuse/fuse_copies.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/cost/fuse_cost.h"
#include "graph/fuse/edge_cost.h"
#include "graph/fuse/fuse_rules.h"

namespace tunec {
namespace {

constexpr size_t kMostCopied = 8;  // greatest number of nodes of a recomputed group
constexpr size_t kMostReaders = 4;

template <class T>
bool Contains(const std::vector<T>& list, const T& item) {
  return std::ranges::find(list, item) != list.end();
}

class Copier {
 public:
  Copier(const Graph& graph, FusionPlan& plan) : graph_(graph), plan_(plan) {
    for (size_t g = 0; g < plan.groups.size(); ++g)
      for (const ValueId input : plan.groups[g].inputs) readers_[input].insert(g);
    for (const NodeId node : plan.view_nodes)
      for (const ValueId input : graph.node(node).inputs) read_by_views_.insert(input);
    for (size_t e = 0; e < plan.edges.size(); ++e) Index(e);
  }

  void Run() {
    for (size_t g = plan_.groups.size(); g-- > 0;)
      if (CanDissolve(plan_.groups[g])) Try(g);
    RemoveEmptyGroups();
  }

 private:
  bool CanDissolve(const FusionGroup& group) const {
    if (group.outputs.size() != 1 || group.nodes.size() > kMostCopied) return false;
    const ValueId value = group.outputs[0];
    if (graph_.IsOutput(value) || read_by_views_.contains(value)) return false;
    return std::ranges::all_of(group.nodes, [&](NodeId id) {
      const OpPattern pattern = PatternOf(graph_.node(id).op);
      return pattern == OpPattern::kElementwise || pattern == OpPattern::kInjective;
    });
  }

  GroupTraits TraitsOfGroup(const FusionGroup& group) const {
    GroupTraits traits;
    for (const NodeId id : group.nodes) traits = Merge(traits, TraitsOf(graph_, graph_.node(id)));
    return traits;
  }

  void Try(size_t g) {
    const ValueId value = plan_.groups[g].outputs[0];
    const auto known = readers_.find(value);
    if (known == readers_.end() || known->second.size() > kMostReaders) return;
    const std::set<size_t> readers = known->second;
    const std::optional<FusionCost> cost = CostOf(plan_.groups[g], value, readers);
    if (!cost) return;
    const bool pays = SecondsSaved(*cost, plan_.machine) > 0;
    for (const size_t e : by_value_[value]) {
      plan_.edges[e].cost = *cost;
      plan_.edges[e].reason = pays ? FusionReason::kRecomputed : FusionReason::kCostsMore;
      if (pays) plan_.edges[e].from = plan_.edges[e].into;
    }
    if (pays) Dissolve(g, readers);
  }

  // Returns the cost of recomputing the group in its readers, or nullopt if a reader cannot absorb
  // the group.
  std::optional<FusionCost> CostOf(const FusionGroup& group, ValueId value,
                                   const std::set<size_t>& readers) const {
    const GroupTraits producer = TraitsOfGroup(group);
    FusionCost total{.bytes_saved = BytesOf(graph_, value), .launches_saved = 1};
    for (const ValueId input : group.inputs) total.bytes_saved += BytesRead(input, value);
    double times = 0;
    for (const size_t r : readers) {
      const FusionGroup& reader = plan_.groups[r];
      if (!Fits(group, reader)) return std::nullopt;
      const GroupTraits into = TraitsOfGroup(reader);
      total.bytes_saved += BytesOf(graph_, value);
      for (const ValueId input : group.inputs)
        if (!Contains(reader.inputs, input)) total.bytes_saved -= BytesRead(input, value);
      for (const NodeId user : UsersIn(reader, value)) {
        const std::vector<NodeId> alone = {user};
        const FusionQuestion question{.value = value,
                                      .producer = producer,
                                      .consumer = graph_.node(user),
                                      .into = into,
                                      .users = alone};
        if (!IsFused(DecideFusion(graph_, question))) return std::nullopt;
        const FusionCost cost = CostOfEdge(graph_, question, plan_.machine);
        times += cost.times_computed;
        if (cost.parts > 0) total.parts = cost.parts;
        total.seconds_in_parts += cost.seconds_in_parts;
      }
    }
    total.times_computed = times;
    total.operations_added = (times - 1) * producer.operations;
    return total;
  }

  // Estimates the bytes of the input that are read to compute the value. A gather or slice reads at
  // most as many elements as it makes.
  int64_t BytesRead(ValueId input, ValueId value) const {
    return std::min(BytesOf(graph_, input), BytesOf(graph_, value));
  }

  static bool Fits(const FusionGroup& group, const FusionGroup& reader) {
    return group.nodes.size() + reader.nodes.size() <= kMostNodes &&
           group.inputs.size() + reader.inputs.size() <= kMostInputs;
  }

  std::vector<NodeId> UsersIn(const FusionGroup& group, ValueId value) const {
    std::vector<NodeId> users;
    for (const NodeId id : group.nodes)
      if (Contains(graph_.node(id).inputs, value)) users.push_back(id);
    return users;
  }

  void Dissolve(size_t g, const std::set<size_t>& readers) {
    const FusionGroup group = plan_.groups[g];
    plan_.groups[g] = {};
    readers_.erase(group.outputs[0]);
    for (const ValueId input : group.inputs) readers_[input].erase(g);
    for (const size_t r : readers) TakeIn(group, r);
    CopyEdges(group, g, readers);
  }

  void TakeIn(const FusionGroup& group, size_t r) {
    FusionGroup& reader = plan_.groups[r];
    std::vector<NodeId> nodes;
    std::ranges::set_union(group.nodes, reader.nodes, std::back_inserter(nodes));
    reader.nodes = std::move(nodes);
    reader.layouts.insert(group.layouts.begin(), group.layouts.end());
    reader.inputs = InputsOf(reader);
    for (const ValueId input : reader.inputs) readers_[input].insert(r);
  }

  // Returns the inputs in order of first use.
  std::vector<ValueId> InputsOf(const FusionGroup& group) const {
    std::vector<ValueId> inputs;
    for (const NodeId id : group.nodes)
      for (const ValueId input : graph_.node(id).inputs)
        if (input.valid() && !Contains(group.nodes, graph_.value(input).producer) &&
            !Contains(inputs, input))
          inputs.push_back(input);
    return inputs;
  }

  void Index(size_t edge) {
    by_value_[plan_.edges[edge].value].push_back(edge);
    by_consumer_[plan_.edges[edge].consumer].push_back(edge);
  }

  // Copies the edges within and into the group to each of its readers.
  void CopyEdges(const FusionGroup& group, size_t g, const std::set<size_t>& readers) {
    std::vector<size_t> moved;
    for (const NodeId id : group.nodes)
      for (const size_t e : by_consumer_[id])
        if (plan_.edges[e].into == static_cast<int32_t>(g)) moved.push_back(e);
    for (const size_t e : moved) {
      const bool inside = plan_.edges[e].from == static_cast<int32_t>(g);
      for (const size_t r : readers) {
        FusionEdge edge = plan_.edges[e];
        edge.into = static_cast<int32_t>(r);
        if (inside) edge.from = edge.into;
        if (r == *readers.begin()) {
          plan_.edges[e] = edge;
        } else {
          plan_.edges.push_back(edge);
          Index(plan_.edges.size() - 1);
        }
      }
    }
  }

  void RemoveEmptyGroups() {
    std::vector<int32_t> number(plan_.groups.size(), -1);
    int32_t remaining = 0;
    for (size_t g = 0; g < plan_.groups.size(); ++g)
      if (!plan_.groups[g].nodes.empty()) number[g] = remaining++;
    std::erase_if(plan_.groups, [](const FusionGroup& group) { return group.nodes.empty(); });
    for (FusionEdge& edge : plan_.edges) {
      if (edge.from >= 0) edge.from = number[edge.from];
      if (edge.into >= 0) edge.into = number[edge.into];
    }
  }

  const Graph& graph_;
  FusionPlan& plan_;
  std::map<ValueId, std::set<size_t>> readers_;  // groups that read each value
  std::set<ValueId> read_by_views_;
  std::map<ValueId, std::vector<size_t>> by_value_;    // edges of each value
  std::map<NodeId, std::vector<size_t>> by_consumer_;  // edges of each consumer
};

}  // namespace

void RecomputeInReaders(const Graph& graph, FusionPlan& plan) { Copier(graph, plan).Run(); }

}  // namespace tunec
