// Functions that compare inferred formulas with the model's graph at given sizes, or decide if this
// comparison is necessary.
#pragma once

#include "compiler/sized/sized_graph.h"
#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec {

/// Returns true if the form must be compared with the graph of each size before a run: a number may
/// depend on the sizes in a way that samples do not show, or a divisor of an output's formula was
/// guessed. Returns false for a form without formulas.
bool NeedsChecks(const SizedSource& source, const SizedForm& form);
/// Returns true if the parameters of padded code must be compared with the graph of each size
/// before a run.
bool NeedsChecks(const SizedSource& source, const SizedCode& code);

/// Fails with kUnsupported if the graph's outputs have other shapes than the form predicts. A form
/// without formulas predicts nothing.
Status CheckOutputsAt(const SizedForm& form, const Graph& graph, const Sizes& sizes);

/// Fails with kUnsupported if the model of these sizes has other outputs than the form predicts, or
/// computes elements along a separable dimension differently than the model of one element. Other
/// errors are those of the source and of PadGraph.
Status CheckForm(const SizedSource& source, const SizedForm& form, const Sizes& sizes);

/// Fails with kUnsupported if the model of these sizes has another padded graph, or has parameters
/// that differ from the formulas. Other errors are those of the source and of PadGraph. Requires:
/// `padded` has dynamic dimensions.
Status CheckPadded(const SizedSource& source, const SizedGraph& padded, const Sizes& sizes);

}  // namespace tunec
