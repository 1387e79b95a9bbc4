// Functions that make a model's graph at several sizes, and pad each graph to one bucket's sizes.
#pragma once

#include <vector>

#include "compiler/sized/choose_samples.h"
#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "graph/pad/pad_graph.h"
#include "support/error.h"

namespace tunec {

/// The graph of one set of sizes, padded to the sizes of the bucket.
struct PaddedSample {
  Sizes sizes;
  PaddedGraph padded;  // formulas refer to the source's dimensions by number
};

/// The exact and the padded graphs of the samples, from which shape functions are inferred.
struct Looked {
  std::vector<Graph> graphs;  // exact graphs of the samples, except the bucket
  std::vector<PaddedSample> samples;
};

/// Returns the model's graph at the sizes. If the number of nodes is the bucket's, a constant that
/// equals the bucket's constant at the same position shares its memory. So HaveSameBytes is fast.
Result<Graph> GraphLike(const SizedSource& source, const Sizes& sizes, const Graph& bucket);

/// Returns the source's axes whose dimension is marked in `open`, which has one element per
/// dimension.
std::vector<OpenAxis> OpenAxes(const SizedSource& source, const std::vector<bool>& open);

/// Returns the graphs at enough of the served sizes to infer how numbers depend on the sizes. Fails
/// with kUnsupported if two padded graphs have different texts, or if the samples are not enough
/// after 4 rounds of SamplesOfRemainders. Other errors are those of the source and of PadGraph.
Result<Looked> PadSamples(const SizedSource& source, const Graph& bucket,
                          const ServedSizes& served);

}  // namespace tunec
