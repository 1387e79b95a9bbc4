// Fusion groups and their lowering: a group of nodes becomes one kernel; its Lowerings are
// alternative Computes for it, among which a schedule chooses by name.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/compute.h"

namespace tunec {

struct FusionGroup {
  std::vector<NodeId> nodes;     // in graph order
  std::vector<ValueId> inputs;   // read from outside, in order of first use; constants included
  std::vector<ValueId> outputs;  // read outside or graph outputs, in graph order
};

/// Whether nodes are grouped, or every node is a kernel of its own (the unfused baseline).
enum class FusionMode { kFused, kUnfused };

/// Partitions the computing nodes into groups, in an order that respects data flow. Groups
/// never form cycles.
Result<std::vector<FusionGroup>> Fuse(const Graph& graph, FusionMode mode);

/// One way to compute a group. The Compute's arguments are the group's inputs in order (role
/// kInput, or kWeight and constant when the value is a constant), then its outputs (kOutput);
/// all its names are canonical (in0, w1, out0, ...), so that equal groups have equal text.
struct Lowering {
  std::string name;  // "direct", "flat", ...
  Compute compute;
};

/// The alternatives; the first is the default, whose text identifies the workload.
Result<std::vector<Lowering>> Lower(const Graph& graph, const FusionGroup& group);

}  // namespace tunec
