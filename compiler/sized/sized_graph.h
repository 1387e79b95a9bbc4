// The graphs of a model at some sizes, and for smaller ones.
#pragma once

#include <vector>

#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "runtime/sized/sized_form.h"
#include "runtime/sized/sized_variant.h"
#include "support/error.h"

namespace tunec {

/// A graph for some sizes, and, with parameters, for smaller ones.
struct SizedGraph {
  Graph graph;
  SizedCode code;
  /// The graphs that padding compared, that of the code's sizes first. Empty where there is no
  /// padding.
  std::vector<Graph> compared = {};
};

/// Puts into the form where outputs lie for any sizes, and what runs may be cut along. kUnsupported
/// names what keeps the model from being padded, and then the form is as it was.
Status LearnShape(const SizedSource& source, SizedForm& form);
/// Whether the model is as the form says at a larger size of a dimension, too. kUnsupported: it is
/// another one.
Status CheckFurther(const SizedSource& source, const SizedForm& form, size_t dimension,
                    int64_t size);
/// The graph of these sizes exactly, or for smaller ones along the dimensions that are open: for as
/// much as possible of what KeyFor gives it. An exact graph is not compared with the form.
/// kUnsupported names what cannot be padded; kCancelled where the source was.
Result<SizedGraph> GraphFor(const SizedSource& source, const SizedForm& form, const SizedKey& key);

}  // namespace tunec
