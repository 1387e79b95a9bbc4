// A function to check outputs on inputs that are hard for floats, such as infinities.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"
#include "tools/runs/compare_outputs.h"

namespace tunec {

/// An output's error, and the limit of OutputError::Relative.
struct HardOutput {
  OutputError error;
  double threshold = 0;
  bool IsRight() const { return error.IsWithin(threshold); }
};

/// Compares outputs with a reference execution on the same inputs. If an output exceeds
/// `tolerance`, all outputs are compared again, also with a reference in float64. The limits then
/// grow by 16 times the greatest finite difference of the two references, because hard inputs
/// magnify roundings. In `reference`, the results of RunReference, each node's result is rounded to
/// its type. An element that is finite in neither reference must not be finite in the output, and
/// infinities must have the sign of those in `reference`. The cost is at most one reference
/// execution.
Result<std::vector<HardOutput>> CheckHardOutputs(const Graph& graph, std::span<const Array> inputs,
                                                 std::span<const Array> outputs,
                                                 std::span<const Array> reference,
                                                 double tolerance);

}  // namespace tunec
