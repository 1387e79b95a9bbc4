// How Fuse (group.h) decides. Nodes are visited in graph order; each starts as a group of its
// own and tries to take in the groups of its operands. One function judges every such edge
// and gives the reason, which is kept for `tunec show --fusion`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/group.h"

namespace tunec {

/// Why the producer and the consumer of a value are, or are not, in one group.
enum class FusionReason : uint8_t {
  // Fused:
  kElementwiseChain,  // elementwise into elementwise
  kEpilogue,          // elementwise after a contraction, in its loops
  kRenamedOutput,     // transpose or reshape of what a kernel writes: its store is moved
  kRowEpilogue,       // elementwise after a reduction, over the same rows
  kPrologue,          // cheap elementwise work before a reduction
  kSameRows,          // a reduction over the rows that another one already walks
  kIndexMap,          // data movement becomes the consumer's index map
  kSameGroup,         // another value already joined the two
  // Not fused:
  kUnfusedMode,         // every node alone
  kOpaque,              // control, memory, or an operator never fused
  kTwoContractions,     // one contraction in a group
  kContractionOperand,  // a contraction reads stored values: they would be computed repeatedly
  kNotAffine,           // the contraction's reads would no longer be affine
  kOtherUsers,          // the value is needed elsewhere, and would be stored anyway
  kOtherShape,          // the consumer's loops do not match
  kOtherRows,           // the reductions are over different rows
  kWindows,             // each element is read by many windows
  kTooLarge,            // too many nodes or operands in one kernel
  kCycle,               // the groups would wait for each other
};

/// The reason as a phrase.
std::string_view Describe(FusionReason reason);
bool IsFused(FusionReason reason);

struct FusionEdge {
  ValueId value;    // made by one node,
  NodeId consumer;  // read by this one
  FusionReason reason = FusionReason::kOpaque;
};

struct FusionPlan {
  std::vector<FusionGroup> groups;  // as Fuse returns them
  std::vector<FusionEdge> edges;    // between computing nodes, in graph order
};

/// Requires: a verified graph. Ensures: every computing node that an output depends on is in
/// exactly one group; the groups are in an order that respects data flow. O(edges log nodes),
/// the search for cycles being bounded for each edge.
Result<FusionPlan> PlanFusion(const Graph& graph, FusionMode mode);

}  // namespace tunec
