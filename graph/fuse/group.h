// Fusion groups and their lowering: a group of nodes becomes one kernel; its Lowerings are
// alternative Computes for it, among which a schedule chooses by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ir/compute.h"

namespace tunec {

struct FusionGroup {
  std::vector<NodeId> nodes;     // in graph order
  std::vector<ValueId> inputs;   // read from outside, in order of first use; constants included
  std::vector<ValueId> outputs;  // read outside or graph outputs, in graph order
  /// How inputs and outputs are stored that lie within another value's storage.
  std::map<ValueId, Layout> layouts;
};

/// Whether nodes are grouped, or every node is a kernel of its own (the unfused baseline).
enum class FusionMode { kFused, kUnfused };

/// Why the producer and the consumer of a value are, or are not, in one group.
enum class FusionReason : uint8_t {
  // Fused:
  kElementwiseChain,  // elementwise into elementwise
  kEpilogue,          // elementwise after a contraction, in its loops
  kRenamedOutput,     // transpose or reshape of what a kernel writes: its store is moved
  kRowEpilogue,       // elementwise after a reduction, over the same rows
  kPrologue,          // cheap elementwise work before a reduction
  kOperandPrologue,   // work before a contraction, done tile by tile while it runs
  kSameRows,          // a reduction over the rows that another one already walks
  kIndexMap,          // data movement becomes the consumer's index map
  kSiblings,          // both read one value, which is then read once
  kRecomputed,        // computed again in each kernel that reads it
  kSameGroup,         // another value already joined the two
  // Not fused:
  kUnfusedMode,         // every node alone
  kOpaque,              // control, memory, or an operator never fused
  kTwoContractions,     // one contraction in a group
  kContractionOperand,  // a contraction reads stored values: they would be computed repeatedly
  kOperandOrder,        // a contraction's sums would walk the computed operand across memory
  kNotAffine,           // the contraction's reads would no longer be affine
  kOtherUsers,          // the value is needed elsewhere, and would be stored anyway
  kOtherShape,          // the consumer's loops do not match
  kOtherRows,           // the reductions are over different rows
  kCostsMore,           // more would be lost than saved
  kTooLarge,            // too many nodes or operands in one kernel
  kCycle,               // the groups would wait for each other
  kReadInPlace,         // the value is a view: whoever made its storage has run before
  // No kernel at all, the consumer being a view:
  kConcatInPlace,  // operands are written where the concatenation has them
  kViewed,         // renamed or sliced data is read where it lies
};

/// The reason as a phrase.
std::string_view Describe(FusionReason reason);
bool IsFused(FusionReason reason);

/// What fusing along an edge changes; fuse_cost.h says how it is weighed.
struct FusionCost {
  int64_t bytes_saved = 0;  // neither written nor read again
  int launches_saved = 0;
  double times_computed = 1;    // each element of the value, on average
  double operations_added = 0;  // by that; negative where not all elements are needed
  double parts = 0;             // independent parts that the kernel has; 0: enough
  double seconds_in_parts = 0;  // of one core's work, that was not confined to them
  int live_values = 0;          // at once, of the joined body
  double elements = 0;          // that the body computes
  bool operator==(const FusionCost&) const = default;
};

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

/// A value without storage of its own: its elements lie within the storage of another, written
/// there by its producer or, if that is one of the plan's view nodes, by whoever fills the owner.
struct StorageView {
  ValueId value;
  ValueId owner;       // has storage of its own
  int64_t offset = 0;  // elements into the owner's storage
  Layout layout;       // of the value, from there on
  bool operator==(const StorageView&) const = default;
};

/// The groups, and for each edge why it is inside a group or a border between two.
struct FusionPlan {
  std::vector<FusionGroup> groups;  // in an order that respects data flow
  std::vector<FusionEdge> edges;    // between computing nodes, by consumer in graph order
  std::vector<StorageView> views;   // by value
  std::vector<NodeId> view_nodes;   // need no kernel and are in no group, in graph order

  /// Why a group is one group: the edges between its nodes. None when it is one node.
  std::vector<FusionEdge> EdgesWithin(size_t group) const;
  /// Where a group ends and why: the edges into and out of it.
  std::vector<FusionEdge> Borders(size_t group) const;
};

/// Partitions the computing nodes into groups, in an order that respects data flow. Groups
/// never form cycles. PlanFusion (fuse.h) gives the reasons as well.
Result<std::vector<FusionGroup>> Fuse(const Graph& graph, FusionMode mode);

/// One way to compute a group. The Compute's arguments are the group's inputs in order (role
/// kInput, or kWeight and constant when the value is a constant), then its outputs (kOutput);
/// all its names are canonical (in0, w1, out0, ...), so that equal groups have equal text.
struct Lowering {
  std::string name;  // "direct", "flat", "streaming,rows=32,chunk=128": with its knobs
  Compute compute;
};

/// The alternatives; the first is the default, whose text identifies the workload.
Result<std::vector<Lowering>> Lower(const Graph& graph, const FusionGroup& group);

}  // namespace tunec
