// A graph pass: one free function from a verified graph to a verified graph with the same
// inputs, outputs and results. Each is in a file of its own; pipeline.h lists them in order.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "ir/expr.h"

namespace tunec {

struct PassOptions {
  /// kFast allows rewrites that change results for NaN, infinities or signed zeros, and
  /// reassociation of constants.
  FloatRules rules = FloatRules::kStrict;
  /// A folded constant may be this much larger than what it was computed from.
  int64_t fold_growth_bytes = int64_t{1} << 20;
};

}  // namespace tunec
