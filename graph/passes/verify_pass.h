// Checks a pass on a graph: equal numbers on given inputs, the verifier, and parameters before and
// after. Slow, because it runs the reference execution.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/passes/pipeline.h"
#include "ir/array.h"

namespace tunec {

/// The findings about one pass, or about several passes in a row.
struct PassAnswers {
  std::string pass;
  int64_t nodes_before = 0;  // nodes that compute
  int64_t nodes_after = 0;
  // Numerics:
  int inputs = 0;            // sets of inputs on which both graphs ran
  double error = 0;          // the greatest difference, relative to the output's largest magnitude
  std::string worst_output;  // the output with that difference; empty without a difference
  // Lint:
  std::string lint;  // finding of the verifier or a changed interface; empty: none
  // Parameters (count_graph.h):
  int64_t parameters_before = 0;
  int64_t parameters_after = 0;

  bool IsRight(double tolerance) const { return lint.empty() && error <= tolerance; }
};

/// One set of inputs, as Graph::inputs.
using InputSet = std::vector<Array>;

/// Runs the passes in order, each on the result of the previous one, and compares each result with
/// its input. With several passes, a last entry `(all)` compares the end with the beginning. Floats
/// are computed in double, so that a difference is caused by a pass. Stops after a pass that breaks
/// the graph. Errors: a failing pass, with its name; a graph rejected by the reference execution;
/// kUnsupported for dimensions that are not fixed.
Result<std::vector<PassAnswers>> VerifyPasses(const Graph& graph, std::span<const NamedPass> passes,
                                              std::span<const InputSet> inputs,
                                              const PassOptions& options = {});

/// Runs passes given by name. Errors: also kInvalidArgument for a name that is not in AllPasses.
Result<std::vector<PassAnswers>> VerifyPasses(const Graph& graph,
                                              std::span<const std::string> names,
                                              std::span<const InputSet> inputs,
                                              const PassOptions& options = {});

}  // namespace tunec
