// A model's graph at several sizes, padded to those of a bucket.
#pragma once

#include <vector>

#include "compiler/sized/choose_samples.h"
#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "graph/pad/pad_graph.h"
#include "support/error.h"

namespace tunec {

/// What a padded graph was for some sizes.
struct PaddedSample {
  Sizes sizes;
  PaddedGraph padded;  // whose formulas number the source's dimensions
};

/// What is looked at to tell how a graph depends on its sizes.
struct Looked {
  std::vector<Graph> graphs;  // at the samples' sizes
  std::vector<PaddedSample> samples;
};

/// Returns the model's graph at the sizes. Equal constants of this graph and the bucket share their
/// memory. A comparison of pointers then finds both equal.
Result<Graph> GraphLike(const SizedSource& source, const Sizes& sizes, const Graph& bucket);

/// The axes of the dimensions that are open.
std::vector<OpenAxis> OpenAxes(const SizedSource& source, const std::vector<bool>& open);

/// The graph at as many of the served sizes as tell how it depends on them. All padded graphs have
/// one text. kUnsupported where they have not.
Result<Looked> PadSamples(const SizedSource& source, const Graph& bucket,
                          const ServedSizes& served);

}  // namespace tunec
