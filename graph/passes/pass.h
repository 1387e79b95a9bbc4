// A graph pass: one free function from a verified graph to a verified graph with the same
// inputs, outputs and results. Each is in a file of its own; pipeline.h lists them in order.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "graph/passes/image_order.h"
#include "ir/expr.h"

namespace tunec {

struct PassOptions {
  /// kFast allows rewrites that change results for NaN, infinities or signed zeros, and
  /// reassociation of constants.
  FloatRules rules = FloatRules::kStrict;
  /// A folded constant may be this much larger than what it was computed from.
  int64_t fold_growth_bytes = int64_t{1} << 20;
  /// f32 lanes of the target's vectors: what choices of layouts are weighed with.
  int64_t vector_lanes = 16;
  /// Stores every image so; none: by cost.
  std::optional<ImageOrder> image_order;
};

}  // namespace tunec
