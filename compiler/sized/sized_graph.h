// The graphs of a dynamic-shape model: an exact graph for given sizes, or a padded graph, which
// also serves smaller sizes.
#pragma once

#include <vector>

#include "compiler/sized/learn_form.h"
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
};

/// Returns the exact graph of the key's sizes, or a padded graph if the key has dynamic dimensions.
/// The padded graph serves all smaller sizes that fulfil the conditions of the form and of the
/// code. Fails with kUnsupported and the reason if the graph cannot be padded, or with an error of
/// the source.
Result<SizedGraph> GraphFor(const SizedSource& source, const LearntForm& learnt,
                            const SizedKey& key);

}  // namespace tunec
