#include "graph/fuse/node_groups.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace tunec {
namespace {

// Greatest distance, in the order that KeepOrder computes, at which JoinApart joins two groups.
constexpr size_t kMostBetween = 256;
// The search limit of HasOtherPath, in groups. Beyond the limit, a path is assumed to exist.
constexpr int kSearchLimit = 2000;
constexpr int32_t kNoGroup =
    -1;  // in order_: marks the position of a group that was joined to a later group

}  // namespace

NodeGroups::NodeGroups(const Graph& graph, std::vector<bool> live)
    : graph_(graph), live_(std::move(live)), users_(graph.Users()), parent_(live_.size()) {
  std::iota(parent_.begin(), parent_.end(), 0);
  for (int32_t n = 0; n < std::ssize(live_); ++n) members_.push_back({n});
}

int32_t NodeGroups::GroupOf(int32_t node) {
  while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
  return node;
}

bool NodeGroups::IsNeededOutside(ValueId value, int32_t group) {
  if (graph_.IsOutput(value)) return true;
  return std::ranges::any_of(users_[value], [&](NodeId user) {
    return live_[user.index] && GroupOf(user.index) != group;
  });
}

size_t NodeGroups::CountInputs(int32_t a, int32_t b) {
  std::set<int32_t> inputs;
  for (const int32_t group : {a, b})
    for (const int32_t member : members_[group])
      for (const ValueId input : graph_.nodes()[member].inputs)
        if (input.valid() && GroupOf(input) != a && GroupOf(input) != b) inputs.insert(input.index);
  return inputs.size();
}

size_t NodeGroups::CountOutputs(int32_t group) {
  size_t count = 0;
  for (const int32_t member : members_[group])
    for (const ValueId output : graph_.nodes()[member].outputs)
      count += IsNeededOutside(output, group) ? 1 : 0;
  return count;
}

FusionGroup NodeGroups::Describe(int32_t id) {
  FusionGroup group;
  for (const int32_t member : members_[id]) {
    group.nodes.push_back({member});
    for (const ValueId input : graph_.nodes()[member].inputs)
      if (input.valid() && GroupOf(input) != id &&
          std::ranges::find(group.inputs, input) == group.inputs.end())
        group.inputs.push_back(input);
    for (const ValueId output : graph_.nodes()[member].outputs)
      if (IsNeededOutside(output, id)) group.outputs.push_back(output);
  }
  return group;
}

// Returns the other groups with live nodes that read values of `group`.
std::set<int32_t> NodeGroups::Successors(int32_t group) {
  std::set<int32_t> successors;
  for (const int32_t member : members_[group])
    for (const ValueId output : graph_.nodes()[member].outputs)
      for (const NodeId user : users_[output])
        if (live_[user.index]) successors.insert(GroupOf(user.index));
  successors.erase(group);
  return successors;
}

// Skips groups that start after the last node of `into`. Groups are joined in graph order, so these
// are single nodes, from which no path leads back.
bool NodeGroups::HasOtherPath(int32_t from, int32_t into) {
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

void NodeGroups::Join(int32_t from, int32_t into) {
  parent_[from] = into;
  std::vector<int32_t> merged;
  std::ranges::merge(members_[from], members_[into], std::back_inserter(merged));
  members_[into] = std::move(merged);
  members_[from].clear();
}

std::vector<int32_t> NodeGroups::Order() {
  using Entry = std::pair<int32_t, int32_t>;  // last member, group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<std::set<int32_t>> waits(live_.size());
  const auto is_group = [&](int32_t n) { return live_[n] && GroupOf(n) == n; };
  for (int32_t n = 0; n < std::ssize(live_); ++n)
    if (is_group(n))
      for (const int32_t next : Successors(n)) waits[next].insert(n);
  for (int32_t n = 0; n < std::ssize(live_); ++n)
    if (is_group(n) && waits[n].empty()) ready.emplace(members_[n].back(), n);
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

void NodeGroups::KeepOrder() {
  order_ = Order();
  for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
}

// Joins two groups. A group between them in the order comes after the result if it depends on the
// earlier group, and otherwise before the result.
int32_t NodeGroups::JoinApart(int32_t a, int32_t b) {
  if (position_[a] > position_[b]) std::swap(a, b);
  const size_t begin = position_[a];
  const size_t end = position_[b];
  if (end - begin > kMostBetween) return -1;
  std::set<int32_t> after = Successors(a);
  for (size_t i = begin + 1; i < end; ++i)
    if (after.contains(order_[i])) after.merge(Successors(order_[i]));
  if (after.contains(b)) return -1;
  std::vector<int32_t> between(order_.begin() + static_cast<ptrdiff_t>(begin) + 1,
                               order_.begin() + static_cast<ptrdiff_t>(end));
  const auto waits =
      std::ranges::stable_partition(between, [&](int32_t group) { return !after.contains(group); });
  Join(a, b);
  between.insert(waits.begin(), b);
  order_[begin] = kNoGroup;
  for (size_t i = 0; i < between.size(); ++i) {
    order_[begin + 1 + i] = between[i];
    if (between[i] != kNoGroup) position_[between[i]] = begin + 1 + i;
  }
  return b;
}

}  // namespace tunec
