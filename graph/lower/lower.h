// The lowering of a group of nodes to alternative Computes (ir/compute.h), which are statements
// over tensors. One of the alternatives becomes the group's kernel.
#pragma once

#include <string>
#include <vector>

#include "graph/cost/fusion_machine.h"
#include "graph/fuse/fusion_group.h"
#include "ir/compute.h"

namespace tunec {

/// One way to compute a group. The Compute's arguments are the group's inputs in order, then its
/// outputs (kOutput). An input has the role kInput, or kWeight if it is a constant. Each argument
/// has the type in which it is stored. All names are canonical (in0, w1, out0, ...), so that equal
/// groups have equal text.
struct Lowering {
  /// Name with parameters: "direct", "flat", "winograd", "winograd,tile=4",
  /// "streaming,rows=32,chunk=128,ends".
  std::string name;
  Compute compute;
};

/// The limit for the error of alternatives that compute sums by transforms (Winograd). kAccurate
/// allows an error as great as that of reordered additions. kAll allows greater errors.
enum class Transforms { kAccurate, kAll };

/// Returns the alternative ways to compute a group. The first one is the default, and its text
/// identifies the workload. The costs on `machine` help to decide which values are stored instead
/// of recomputed. Errors: kUnsupported for a dimension that is not fixed, and for a node that has
/// no lowering.
Result<std::vector<Lowering>> Lower(const Graph& graph, const FusionGroup& group,
                                    const FusionMachine& machine, Transforms transforms);

}  // namespace tunec
