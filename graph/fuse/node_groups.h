// The groups of a plan under construction: disjoint sets of nodes, joined pairwise. The graph of
// the groups stays acyclic if HasOtherPath returns false before each Join.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "graph/fuse/fusion_group.h"
#include "graph/graph.h"

namespace tunec {

/// A partition of nodes into groups. The id of a group is the number of one of its nodes.
class NodeGroups {
 public:
  /// Makes a separate group of each node. Nodes that are not `live` do not count as users, and
  /// Order omits them.
  NodeGroups(const Graph& graph, std::vector<bool> live);

  int32_t GroupOf(int32_t node);
  int32_t GroupOf(ValueId value) { return GroupOf(graph_.value(value).producer.index); }
  /// Returns the nodes of a group in graph order.
  const std::vector<int32_t>& Members(int32_t group) const { return members_[group]; }
  bool IsLive(int32_t node) const { return live_[node]; }

  bool IsNeededOutside(ValueId value, int32_t group);
  /// Returns how many values the two groups read that neither makes. CountOutputs returns how many
  /// values of a group are graph outputs or are read by other groups.
  size_t CountInputs(int32_t a, int32_t b);
  size_t CountOutputs(int32_t group);
  FusionGroup Describe(int32_t group);

  /// Returns whether a path leads from group `from` to group `into` through a third group. Returns
  /// true if too many groups would have to be searched.
  bool HasOtherPath(int32_t from, int32_t into);
  /// Merges `from` into `into`. Requires: two different groups without another path (HasOtherPath).
  void Join(int32_t from, int32_t into);

  /// Returns the groups of live nodes in an order that respects data flow. Among the groups whose
  /// operands are computed, the group whose last node is earliest in the graph comes first.
  std::vector<int32_t> Order();
  /// Computes the order that JoinApart maintains.
  void KeepOrder();
  /// Joins two groups, unless one depends on the other or their distance in the order exceeds 256.
  /// Returns the joined group, or -1. Requires: KeepOrder. O(edges of the groups between).
  int32_t JoinApart(int32_t a, int32_t b);

 private:
  std::set<int32_t> Successors(int32_t group);

  const Graph& graph_;
  std::vector<bool> live_;
  ValueUsers users_;             // users of each value
  std::vector<int32_t> parent_;  // union-find
  std::vector<std::vector<int32_t>> members_;
  std::vector<int32_t> order_;
  std::map<int32_t, size_t> position_;  // position of a group in order_
};

}  // namespace tunec
