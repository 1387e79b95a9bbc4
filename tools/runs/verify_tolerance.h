// How far a model's outputs may be from what is expected by the types it computes in.
#pragma once

#include <string>

#include "autotune/accuracy.h"
#include "graph/graph.h"

namespace tunec {

/// Of the outputs' largest magnitude.
struct VerifyTolerance {
  double threshold = 0;
  std::string why;  // "the model computes in f16: 16 roundings of 2^-11"; empty for float32
};

/// By the coarsest type that values of the model are computed or stored in. A 16-bit float is
/// rounded at every operation, and errors of layers add up: 16 roundings. A quantised value that
/// lies near the edge between two levels falls on either side, and each such value moves all that
/// are computed from it: 4 levels of the 127 (of 8 bits; 32767 of 16) that are the largest
/// magnitude. float32 has room for long sums: kOutputTolerance, for all that is finer too. Of a
/// contract that is a number 16 times that. What contracts make of outputs that round operands,
/// contract_tolerance.h says.
VerifyTolerance ToleranceFor(const Graph& graph, const Accuracy& accuracy);

}  // namespace tunec
