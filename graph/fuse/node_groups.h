// The groups of a plan while it is made: classes of nodes, joined two by two. The graph of the
// groups stays acyclic, if whoever joins two of them asks first.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "graph/fuse/fusion_group.h"
#include "graph/graph.h"

namespace tunec {

/// A group is called by the number of one of its nodes.
class NodeGroups {
 public:
  /// Each of the `live` nodes in a group of its own.
  NodeGroups(const Graph& graph, std::vector<bool> live);

  int32_t GroupOf(int32_t node);
  int32_t GroupOf(ValueId value) { return GroupOf(graph_.value(value).producer.index); }
  /// In graph order.
  const std::vector<int32_t>& Members(int32_t group) const { return members_[group]; }
  bool IsLive(int32_t node) const { return live_[node]; }

  bool IsNeededOutside(ValueId value, int32_t group);
  /// Values that the two read from outside, and values of one that are needed outside.
  size_t CountInputs(int32_t a, int32_t b);
  size_t CountOutputs(int32_t group);
  FusionGroup Describe(int32_t group);

  /// Whether a path leads from group `from` to group `into` through a third one. Where too many
  /// groups would have to be looked at: true.
  bool HasOtherPath(int32_t from, int32_t into);
  /// `from` becomes part of `into`. Requires: no other path.
  void Join(int32_t from, int32_t into);

  /// All groups in an order that respects data flow; among ready groups, the one that ends first.
  std::vector<int32_t> Order();
  /// Makes the order that JoinApart keeps.
  void KeepOrder();
  /// Joins two groups unless one waits for the other, or too many stand between them. Returns the
  /// one that is left, or -1. Requires: KeepOrder. O(edges of the groups between).
  int32_t JoinApart(int32_t a, int32_t b);

 private:
  std::set<int32_t> Successors(int32_t group);

  const Graph& graph_;
  std::vector<bool> live_;
  std::vector<std::vector<NodeId>> users_;  // of values
  std::vector<int32_t> parent_;             // union-find
  std::vector<std::vector<int32_t>> members_;
  std::vector<int32_t> order_;
  std::map<int32_t, size_t> position_;  // in it
};

}  // namespace tunec
