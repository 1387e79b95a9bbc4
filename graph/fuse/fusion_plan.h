// How a graph becomes kernels, and why so.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/cost/fuse_cost.h"
#include "graph/fuse/fusion_group.h"
#include "graph/fuse/fusion_reason.h"
#include "graph/fuse/storage_view.h"

namespace tunec {

/// Whether nodes are grouped, or every node is a kernel of its own (the unfused baseline).
enum class FusionMode { kFused, kUnfused };

/// Limits of one group: what takes longer to compile and to tune than it is worth.
inline constexpr int kMostNodes = 64;
inline constexpr size_t kMostInputs = 32;

/// A value that leads from one computing node to another, and the decision about it; for
/// siblings, what they share and the consumer that joined the others.
struct FusionEdge {
  ValueId value;    // made by one node,
  NodeId consumer;  // read by this one
  FusionReason reason = FusionReason::kOpaque;
  FusionCost cost;    // what fusing it saves, or would save
  int32_t from = -1;  // the value's group, and the consumer's: the same, or two with a border
  int32_t into = -1;  // between them; -1 is no group
};

/// The groups, and for each edge why it is inside a group or a border between two.
struct FusionPlan {
  std::vector<FusionGroup> groups;     // in an order that respects data flow
  std::vector<FusionEdge> edges;       // between computing nodes, by consumer in graph order
  std::vector<StorageView> views;      // by value
  std::vector<NodeId> view_nodes;      // need no kernel and are in no group, in graph order
  FusionMachine machine;               // what costs were weighed with
  std::map<ValueId, DataType> stored;  // of values between groups, where it is not their own

  /// Why a group is one group: the edges between its nodes. None when it is one node.
  std::vector<FusionEdge> EdgesWithin(size_t group) const;
  /// Where a group ends and why: the edges into and out of it.
  std::vector<FusionEdge> Borders(size_t group) const;
};

}  // namespace tunec
