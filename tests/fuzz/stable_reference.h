// What the outputs of a graph may be. The native reference execution gives one answer; compiled
// programs may round at other places, reassociate sums, compute functions to their documented
// errors, and leave the sign of a zero maximum open. Instead of one tolerance for all graphs, the
// graph's own conditioning is measured: it is executed many times in float64 with such freedoms
// taken at random (discrete stochastic arithmetic: Vignes 1993). Where the samples of an element
// agree, a result must agree with them; where a threshold, a cancellation or an overflow makes them
// differ, it must lie among them. Operations that are exact for their operands are not disturbed,
// so that comparisons, roundings and index arithmetic on numbers of few bits have one answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"

namespace tunec::fuzz {

/// What may differ without samples: a few units in the last place of the type, relative.
double CloseEnough(DataType type);

class OutputJudge {
 public:
  /// `expected`: the outputs of RunReference on these inputs.
  OutputJudge(const Graph& graph, std::span<const Array> inputs, std::vector<Array> expected);

  /// Empty when the outputs are right; else what is wrong with the first that is not.
  std::string Judge(std::span<const Array> outputs);

 private:
  std::string JudgeOutput(size_t output, const Array& actual);
  void DrawSamples(size_t count);

  const Graph& graph_;
  std::vector<Array> inputs_;
  std::vector<Array> expected_;
  std::vector<std::vector<Array>> samples_;  // each: one array per output
  uint64_t next_seed_ = 1;
};

}  // namespace tunec::fuzz
