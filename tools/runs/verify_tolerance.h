// A function that chooses the tolerance of outputs by the computed types and the accuracy mode.
#pragma once

#include <string>

#include "autotune/accuracy.h"
#include "graph/graph.h"

namespace tunec {

/// Tolerance of an output, relative to the greatest finite magnitude of the expected output.
struct VerifyTolerance {
  double threshold = 0;
  std::string why;  // "the model computes in f16: 16 roundings of 2^-11"; empty for float32
};

/// Returns the greatest tolerance that a type of computed values or the accuracy mode requires:
/// - 16-bit floats: 16 roundings, because every operation rounds and errors of layers add up.
/// - Quantised values: 4 of 127 levels for 8 bits, and 4 of 32767 levels for 16 bits. A value near
///   the edge between two levels may fall on either side, and values computed from this value then
///   move too.
/// - Other types: kOutputTolerance, which suffices for long sums in float32.
/// - Accuracy mode kBound: 16 times the bound.
/// contract_tolerance.h handles the accuracy modes kTf32 and kBf16.
VerifyTolerance ToleranceFor(const Graph& graph, const Accuracy& accuracy);

}  // namespace tunec
