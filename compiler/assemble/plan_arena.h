// Where the intermediate values of a run lie in its one block of memory, the arena.
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

/// A step of a run: a group, and the pairs of an input and an output of its kernel that may share
/// storage.
struct ArenaStep {
  const FusionGroup* group = nullptr;
  std::vector<std::pair<ValueId, ValueId>> in_place;
};

struct ArenaPlan {
  std::map<ValueId, int64_t> offset;
  int64_t bytes = 0;
};

/// Graph outputs that a kernel writes straight into the caller's buffer, and which it is.
std::map<ValueId, int32_t> DirectOutputs(const Graph& graph);

/// Places every value that a step writes, but for the direct outputs, and for views, which have
/// their owner's place. `steps` are in order.
ArenaPlan PlanArena(const Graph& graph, std::span<const StorageView> views,
                    std::span<const ArenaStep> steps);

/// What the canonical names of a kernel's arguments stand for: the group's inputs, then its
/// outputs.
std::map<std::string, ValueId> ValueOfArguments(const FusionGroup& group,
                                                const std::vector<std::string>& argument_names);
/// Pairs of names as pairs of values; names that the group has not are left out. PlanArena decides
/// which of them it may use.
std::vector<std::pair<ValueId, ValueId>> InPlaceValues(
    const FusionGroup& group, const std::vector<std::string>& argument_names,
    const std::vector<std::pair<std::string, std::string>>& in_place);

/// The bytes of a value in its layout and its own type, or the one that it is stored in.
int64_t StorageBytes(const Value& value);
int64_t StorageBytes(const Value& value, DataType stored);

}  // namespace tunec
