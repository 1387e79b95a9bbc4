// The harness that checks a pass on a graph: the same numbers on given inputs, the verifier,
// parameters before and after. Slow, for it runs the reference execution.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/passes/pipeline.h"
#include "ir/array.h"

namespace tunec {

/// What was found about one pass, or about several in a row.
struct PassAnswers {
  std::string pass;
  int64_t nodes_before = 0;  // that compute
  int64_t nodes_after = 0;
  // Numerics:
  int inputs = 0;            // sets of inputs that both graphs ran on
  double error = 0;          // the greatest difference over the output's largest magnitude
  std::string worst_output;  // where; empty without a difference
  // Lint:
  std::string lint;  // what the verifier or a changed interface says; empty: nothing
  // Parameters (count_graph.h):
  int64_t parameters_before = 0;
  int64_t parameters_after = 0;

  bool IsRight(double tolerance) const { return lint.empty() && error <= tolerance; }
};

/// One set of inputs, as Graph::inputs.
using InputSet = std::vector<Array>;

/// Runs the passes in order, each on what the one before left, and compares each pass's result with
/// its input; with several passes a last entry `(all)` compares the end with the beginning. Floats
/// are computed in double, so that a difference is a pass's doing. After a pass that breaks the
/// graph none follows. Errors: a pass that fails, named; what the reference execution refuses;
/// kUnsupported for dimensions that are not fixed.
Result<std::vector<PassAnswers>> VerifyPasses(const Graph& graph, std::span<const NamedPass> passes,
                                              std::span<const InputSet> inputs,
                                              const PassOptions& options = {});

/// The same for passes by their names. kInvalidArgument for one that is not in AllPasses.
Result<std::vector<PassAnswers>> VerifyPasses(const Graph& graph,
                                              std::span<const std::string> names,
                                              std::span<const InputSet> inputs,
                                              const PassOptions& options = {});

}  // namespace tunec
