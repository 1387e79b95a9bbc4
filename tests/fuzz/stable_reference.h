// A checker of a graph's outputs. The native reference execution gives one correct result. Compiled
// programs may round elsewhere, reassociate sums, compute functions to their documented errors, and
// give either sign to a zero maximum. Instead of one tolerance for all graphs, the checker measures
// the conditioning of each graph. It executes the graph many times in float64 with random choices
// of these differences (discrete stochastic arithmetic: Vignes 1993). If the samples of an element
// agree, a result must agree, too. If a threshold, a cancellation or an overflow makes the samples
// differ, more results are accepted. Exact sums and products of numbers of few bits are mostly not
// changed. So comparisons, roundings and index arithmetic on such numbers mostly have one correct
// result.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"

namespace tunec::fuzz {

/// Returns the relative difference that is accepted without samples: a few units in the last place
/// of the type.
double CloseEnough(DataType type);

class OutputChecker {
 public:
  /// Creates a checker. `expected` are the outputs of RunReference on these inputs. The graph must
  /// outlive the checker.
  OutputChecker(const Graph& graph, std::span<const Array> inputs, std::vector<Array> expected);

  /// Checks the outputs. Returns a description of the first error, or an empty string without one.
  std::string Check(std::span<const Array> outputs);

 private:
  std::string CheckOutput(size_t output, const Array& actual);
  void DrawSamples(size_t count);

  const Graph& graph_;
  std::vector<Array> inputs_;
  std::vector<Array> expected_;
  std::vector<std::vector<Array>> samples_;  // one array per output in each sample
  uint64_t next_seed_ = 1;
};

}  // namespace tunec::fuzz
