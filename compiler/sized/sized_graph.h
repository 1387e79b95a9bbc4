// Functions that infer the form of a dynamic-shape model, and make the model's graphs: an exact
// graph for given sizes, or a padded graph, which also serves smaller sizes.
#pragma once

#include <vector>

#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "runtime/sized/sized_form.h"
#include "runtime/sized/sized_variant.h"
#include "support/error.h"

namespace tunec {

/// The graph for the sizes of a key. A padded graph also serves smaller sizes; its parameters have
/// values for the sizes of each run.
struct SizedGraph {
  Graph graph;
  SizedCode code;
  /// Graphs from which the parameters of a padded graph were inferred. The first one is the graph
  /// of the key's sizes. The list is empty for an exact graph.
  std::vector<Graph> compared = {};
};

/// Stores formulas of the output shapes, the dimensions along which runs may be split, and the
/// verified sizes (`most`) in the form. Fails with kUnsupported and the reason if the model cannot
/// be padded, or with an error of the source. After an error the form is unchanged.
Status LearnShape(const SizedSource& source, SizedForm& form);
/// Checks that the form also holds at a larger size of a dimension, with the other dimensions as in
/// the example. Fails with kUnsupported if the model differs from the form, or with an error of the
/// source.
Status CheckFurther(const SizedSource& source, const SizedForm& form, size_t dimension,
                    int64_t size);
/// Returns the exact graph of the key's sizes, or a padded graph if the key has dynamic dimensions.
/// The padded graph serves all sizes for which KeyFor returns this key, or, if one graph cannot, at
/// least those from half of the key's sizes. An exact graph is not compared with the form. Fails
/// with kUnsupported and the reason if the graph cannot be padded, or with an error of the source.
Result<SizedGraph> GraphFor(const SizedSource& source, const SizedForm& form, const SizedKey& key);

}  // namespace tunec
