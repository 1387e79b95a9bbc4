// The plan of a graph's kernels, with the reasons for its decisions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/cost/fuse_cost.h"
#include "graph/fuse/fusion_group.h"
#include "graph/fuse/fusion_reason.h"
#include "graph/fuse/storage_view.h"

namespace tunec {

/// Grouping mode: groups of nodes, or one kernel for each node (the unfused baseline).
enum class FusionMode { kFused, kUnfused };

/// Limits for joining groups. Larger groups take more time to compile and tune than they save.
inline constexpr int kMostNodes = 64;
inline constexpr size_t kMostInputs = 32;

/// A value that leads from one computing node to another, with the decision about fusing the two
/// nodes. The edge of two siblings has the value that both groups read, and the consumer in the
/// second group.
struct FusionEdge {
  ValueId value;    // a value that one node makes
  NodeId consumer;  // a node that reads the value
  FusionReason reason = FusionReason::kOpaque;
  FusionCost cost;    // cost and benefit of fusing along the edge
  int32_t from = -1;  // group of the value; -1: no group
  int32_t into = -1;  // group of the consumer: the same group if fused; -1: no group
};

/// The groups and views of a graph, and for each edge the reason for or against fusion.
struct FusionPlan {
  std::vector<FusionGroup> groups;  // in an order that respects data flow
  std::vector<FusionEdge> edges;    // by consumer in graph order, then siblings, then copied edges
  std::vector<StorageView> views;   // sorted by the id of the value
  std::vector<NodeId> view_nodes;   // nodes that need no kernel and are in no group, in graph order
  FusionMachine machine;            // machine numbers for the costs
  std::map<ValueId, DataType> stored;  // types of values between groups that are not stored in
                                       // their own type

  /// Returns the edges that are fused within a group; empty for a group of one node.
  std::vector<FusionEdge> EdgesWithin(size_t group) const;
  /// Returns the edges into and out of a group, with the reasons for the borders.
  std::vector<FusionEdge> Borders(size_t group) const;
};

}  // namespace tunec
