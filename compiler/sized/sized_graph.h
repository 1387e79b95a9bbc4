// Functions that make the graphs of a dynamic-shape model: an exact graph for given sizes, or a
// padded graph, which also serves smaller sizes.
#pragma once

#include <vector>

#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "runtime/sized/sized_form.h"
#include "runtime/sized/sized_variant.h"
#include "support/error.h"

namespace tunec {

/// The graph for the sizes of a key. A padded graph has parameters, with which it also serves
/// smaller sizes.
struct SizedGraph {
  Graph graph;
  SizedCode code;
  /// Graphs from which the parameters of a padded graph were inferred. The first one is the graph
  /// of the key's sizes. The list is empty for an exact graph.
  std::vector<Graph> compared = {};
};

/// Stores the shapes of outputs for all sizes, and the dimensions along which runs may be split, in
/// the form. Fails with kUnsupported if the model cannot be padded. The message has the reason, and
/// the form does not change.
Status LearnShape(const SizedSource& source, SizedForm& form);
/// Checks that the form also holds at a larger size of a dimension, with the other dimensions as in
/// the example. Fails with kUnsupported if the model differs from the form.
Status CheckFurther(const SizedSource& source, const SizedForm& form, size_t dimension,
                    int64_t size);
/// Returns the exact graph of the key's sizes, or a padded graph if the key has dynamic dimensions.
/// The padded graph serves as many as possible of the sizes for which KeyFor returns this key. An
/// exact graph is not compared with the form. Fails with kUnsupported if the graph cannot be
/// padded; the message names the reason. Fails with kCancelled if the source was cancelled.
Result<SizedGraph> GraphFor(const SizedSource& source, const SizedForm& form, const SizedKey& key);

}  // namespace tunec
