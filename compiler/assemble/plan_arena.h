// Assignment of offsets in the arena, one block of memory, to a graph's intermediate values.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/fuse/fusion_group.h"
#include "graph/fuse/storage_view.h"
#include "graph/graph.h"

namespace tunec {

/// A step of a run: a group, and pairs of an input and an output of its kernel that may share
/// storage.
struct ArenaStep {
  const FusionGroup* group = nullptr;
  std::vector<std::pair<ValueId, ValueId>> in_place;
};

struct ArenaPlan {
  std::map<ValueId, int64_t> offset;
  int64_t bytes = 0;
};

/// Returns the graph outputs that a kernel writes in row-major order, so that no copy is needed.
/// Each has its first position among the outputs.
std::map<ValueId, int32_t> DirectOutputs(const Graph& graph);

/// Assigns an offset to every value that a step writes, except DirectOutputs. For a view, only the
/// owner has an offset, because the view is a part of the owner's storage. `steps` are in the order
/// of execution.
ArenaPlan PlanArena(const Graph& graph, std::span<const StorageView> views,
                    std::span<const ArenaStep> steps);

/// Returns the value of each canonical argument name. `argument_names` has the names of the group's
/// inputs, then of its outputs.
std::map<std::string, ValueId> ValueOfArguments(const FusionGroup& group,
                                                const std::vector<std::string>& argument_names);
/// Converts pairs of names to pairs of values. A pair with a name that is not in the group is
/// omitted. PlanArena decides which pairs share storage.
std::vector<std::pair<ValueId, ValueId>> InPlaceValues(
    const FusionGroup& group, const std::vector<std::string>& argument_names,
    const std::vector<std::pair<std::string, std::string>>& in_place);

/// Return the bytes of a value in its layout, in its own type or in the type `stored`.
int64_t StorageBytes(const Value& value);
int64_t StorageBytes(const Value& value, DataType stored);

}  // namespace tunec
