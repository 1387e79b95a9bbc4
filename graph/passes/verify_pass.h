// A harness that checks a pass on a graph. It compares results on given inputs, runs the verifier,
// and counts parameters before and after. It is slow, because it runs the reference execution.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/passes/pipeline.h"
#include "ir/array.h"

namespace tunec {

/// The result of comparing the graph before one or several passes with the graph after them.
struct PassAnswers {
  std::string pass;
  int64_t nodes_before = 0;  // number of computing nodes
  int64_t nodes_after = 0;
  // Comparison of the outputs.
  int inputs = 0;            // number of input sets that both graphs ran on
  double error = 0;          // greatest difference, relative to the output's largest magnitude
  std::string worst_output;  // the output with this difference; empty if all outputs agree
  // An error of the graph after the pass. If there is an error, no number is computed.
  std::string lint;  // message of the verifier or a change of the interface; empty if the graph is
                     // correct
  // Numbers of parameters (count_graph.h).
  int64_t parameters_before = 0;
  int64_t parameters_after = 0;

  bool IsRight(double tolerance) const { return lint.empty() && error <= tolerance; }
};

/// One set of inputs, in the order of Graph::inputs.
using InputSet = std::vector<Array>;

/// Runs the passes in order and compares each pass's result with its input. With several passes, a
/// last entry `(all)` compares the final graph with the first. Floats are computed in double, so
/// that float32 rounding does not count as a difference. If a pass breaks the graph, its entry is
/// the last. Fails if a pass fails, and the message then has the pass's name. Also fails if the
/// reference execution fails or a dimension is dynamic.
Result<std::vector<PassAnswers>> VerifyPasses(const Graph& graph, std::span<const NamedPass> passes,
                                              std::span<const InputSet> inputs,
                                              const PassOptions& options = {});

/// Runs passes given by name. Fails with kInvalidArgument for a name that is not in AllPasses.
Result<std::vector<PassAnswers>> VerifyPasses(const Graph& graph,
                                              std::span<const std::string> names,
                                              std::span<const InputSet> inputs,
                                              const PassOptions& options = {});

}  // namespace tunec
