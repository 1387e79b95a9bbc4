// Graphs of a model for some sizes, and padded graphs for smaller sizes.
#pragma once

#include <vector>

#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "runtime/sized/sized_form.h"
#include "runtime/sized/sized_variant.h"
#include "support/error.h"

namespace tunec {

/// A graph for some sizes and, with parameters, for smaller sizes.
struct SizedGraph {
  Graph graph;
  SizedCode code;
  /// The graphs that padding compared; the graph of the code's sizes is the first. Empty without
  /// padding.
  std::vector<Graph> compared = {};
};

/// Stores the shapes of outputs for all sizes, and the dimensions along which runs may be split, in
/// the form. kUnsupported: the model cannot be padded; the message says why, and the form does not
/// change.
Status LearnShape(const SizedSource& source, SizedForm& form);
/// Checks that the form also holds at a larger size of a dimension. kUnsupported: the model
/// differs.
Status CheckFurther(const SizedSource& source, const SizedForm& form, size_t dimension,
                    int64_t size);
/// Returns the exact graph of the key's sizes, or a padded graph for smaller sizes along the
/// dynamic dimensions. The padded graph serves as many as possible of the sizes for which KeyFor
/// returns this key. An exact graph is not compared with the form. kUnsupported: the message names
/// what cannot be padded. kCancelled: the source was cancelled.
Result<SizedGraph> GraphFor(const SizedSource& source, const SizedForm& form, const SizedKey& key);

}  // namespace tunec
