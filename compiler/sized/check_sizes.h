// Comparison of learnt formulas with the model's graph of some sizes.
#pragma once

#include "compiler/sized/sized_graph.h"
#include "compiler/sized/sized_source.h"
#include "graph/graph.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec {

/// Returns whether the graph of each size has to be compared with the form before it runs: a number
/// may depend on the sizes in a way that samples do not show, or a formula was guessed.
bool NeedsChecks(const SizedSource& source, const SizedForm& form);
/// The same for the parameters of padded code.
bool NeedsChecks(const SizedSource& source, const SizedCode& code);

/// Fails with kUnsupported where the graph's outputs have other sizes than the form says.
Status CheckOutputsAt(const SizedForm& form, const Graph& graph, const Sizes& sizes);

/// Fails with kUnsupported where the model of these sizes has other outputs than the form says, or
/// where its elements along a separable dimension are computed otherwise than by themselves.
Status CheckForm(const SizedSource& source, const SizedForm& form, const Sizes& sizes);

/// Fails with kUnsupported where the padded graph, with the parameters that its formulas give, is
/// not the model of these sizes. Requires: `padded` has open dimensions.
Status CheckPadded(const SizedSource& source, const SizedGraph& padded, const Sizes& sizes);

}  // namespace tunec
