// The graphs of a model at some sizes, and for smaller ones.
#pragma once

#include <vector>

#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec {

/// How a model's graphs depend on its sizes.
struct SizedShape {
  OutputExtents outputs;
  /// Of each dimension: whether elements of different positions never meet, so that runs may be
  /// cut.
  std::vector<bool> separable;
};

/// A graph for some sizes, and, with parameters, for smaller ones.
struct SizedGraph {
  Graph graph;
  Sizes sizes;
  std::vector<SizedParameter> parameters;
};

/// kUnsupported names what keeps the model from being padded.
Result<SizedShape> LearnShape(const SizedSource& source);
/// The graph of these sizes for smaller ones along the dimensions that are `open`. kUnsupported
/// names what cannot be padded.
Result<SizedGraph> PaddedGraphFor(const SizedSource& source, const Sizes& sizes,
                                  const std::vector<bool>& open);
/// The exact one, or PaddedGraphFor.
Result<SizedGraph> GraphFor(const SizedSource& source, const SizedKey& key);

}  // namespace tunec
