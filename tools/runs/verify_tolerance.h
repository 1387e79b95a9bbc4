// A function that chooses the tolerance of outputs by the types that the model computes in.
#pragma once

#include <string>

#include "autotune/accuracy.h"
#include "graph/graph.h"

namespace tunec {

/// Tolerance relative to the largest magnitude of the outputs.
struct VerifyTolerance {
  double threshold = 0;
  std::string why;  // "the model computes in f16: 16 roundings of 2^-11"; empty for float32
};

/// Returns the greatest tolerance that a type of computed values or the accuracy mode requires:
/// - 16-bit floats: 16 roundings, because every operation rounds and errors of layers add up.
/// - Quantised values: 4 levels. The largest magnitude has 127 levels for 8 bits and 32767 for 16.
///   A value near the edge between two levels may fall on either side, and all values computed from
///   this value then move too.
/// - float32 and finer types: kOutputTolerance, which suffices for long sums.
/// - Accuracy mode kBound: 16 times the bound.
/// contract_tolerance.h handles accuracy modes that round operands.
VerifyTolerance ToleranceFor(const Graph& graph, const Accuracy& accuracy);

}  // namespace tunec
