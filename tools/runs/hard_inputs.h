// Checks outputs on inputs that are hard for floats: large means, wide exponents, infinities.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"
#include "tools/runs/compare_outputs.h"

namespace tunec {

/// An output's error, and its limit relative to the output's magnitude.
struct HardOutput {
  OutputError error;
  double threshold = 0;
  bool IsRight() const { return error.IsWithin(threshold); }
};

/// Compares outputs with a reference execution on the same inputs. If the plain tolerance is
/// exceeded, 16 times the effect of rounding each node's result to its type in the reference is
/// added to the tolerance, because hard inputs magnify roundings. An element that is not finite in
/// the reference must not be finite in the output; infinities keep their sign. `reference` holds
/// the results of RunReference. Cost: at most one more reference execution.
Result<std::vector<HardOutput>> CheckHardOutputs(const Graph& graph, std::span<const Array> inputs,
                                                 std::span<const Array> outputs,
                                                 std::span<const Array> reference,
                                                 double tolerance);

}  // namespace tunec
