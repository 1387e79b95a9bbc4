// From a group of nodes to what its kernel computes.
#pragma once

#include <string>
#include <vector>

#include "graph/cost/fusion_machine.h"
#include "graph/fuse/fusion_group.h"
#include "ir/compute.h"

namespace tunec {

/// One way to compute a group. The Compute's arguments are the group's inputs in order (role
/// kInput, or kWeight and constant when the value is a constant), then its outputs (kOutput), each
/// in the type that it is stored in; all its names are canonical (in0, w1, out0, ...), so that
/// equal groups have equal text.
struct Lowering {
  /// "direct", "flat", "winograd", "winograd,tile=4", "streaming,rows=32,chunk=128,ends": with its
  /// knobs.
  std::string name;
  Compute compute;
};

/// Which alternatives are wanted that compute a sum by transforms: those that lose no more than
/// another order of the sum may, or those that lose digits, too.
enum class Transforms { kAccurate, kAll };

/// The alternatives; the first is the default, whose text identifies the workload. `machine` says
/// what is stored rather than computed again.
Result<std::vector<Lowering>> Lower(const Graph& graph, const FusionGroup& group,
                                    const FusionMachine& machine, Transforms transforms);

}  // namespace tunec
