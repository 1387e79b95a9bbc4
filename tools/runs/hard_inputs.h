// A function to check outputs on inputs that are hard for floats, such as infinities.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"
#include "tools/runs/compare_outputs.h"

namespace tunec {

/// An output's error, and the limit of the error relative to the output's magnitude.
struct HardOutput {
  OutputError error;
  double threshold = 0;
  bool IsRight() const { return error.IsWithin(threshold); }
};

/// Compares outputs with a reference execution on the same inputs. If the plain tolerance is
/// exceeded, a part for roundings is added, because hard inputs magnify roundings. This part is 16
/// times the difference of two references. In `reference`, the results of RunReference, each node's
/// result is rounded to its type. The other reference computes in float64. An element that is
/// finite in neither reference must not be finite in the output, and infinities must have the sign
/// of those in `reference`. The cost is at most one reference execution.
Result<std::vector<HardOutput>> CheckHardOutputs(const Graph& graph, std::span<const Array> inputs,
                                                 std::span<const Array> outputs,
                                                 std::span<const Array> reference,
                                                 double tolerance);

}  // namespace tunec
