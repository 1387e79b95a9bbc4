// A function that checks a padded graph. The graph runs with random elements in the padding, by the
// reference and perhaps as machine code. The exact elements must equal the exact graph's results.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/fuzz/check_graph.h"
#include "tests/fuzz/pad/sized_model.h"

namespace tunec::fuzz {

struct PadCase {
  SizedModel model;
  uint64_t seed = 1;  // seed of the inputs and of the garbage
  bool code = false;  // also runs machine code
};

/// The result of comparing the texts of the padded graphs for kExact and kOther. It is kRejected if
/// padding the graph for kOther is rejected.
enum class Texts : uint8_t { kEqual, kDiffer, kRejected, kNotCompared };

struct PadResult {
  CheckResult result;
  Texts texts = Texts::kNotCompared;
};

/// The function that pads a graph. It is PadGraph, or a faulty function that a test plants.
using Pads = std::function<Result<PaddedGraph>(const Graph& exact, const Graph& bucket,
                                               std::span<const OpenAxis> open,
                                               std::span<const Graph> samples)>;

PadResult CheckPad(const PadCase& padded, const Pads& pads = PadGraph);

/// Returns random inputs for the graph of one set of sizes. Some inputs named index... have one
/// index of 90 or 3, which can be out of range. Inputs named positive... have elements from 1 to 5.
std::vector<Array> InputsOf(const Graph& graph, Values values, uint64_t seed);

/// Returns the case as text: a line such as `# pad values=ordinary seed=1 code=0`, and the graphs.
std::string Print(const PadCase& padded);
Result<PadCase> ParsePadCase(const std::string& text);

}  // namespace tunec::fuzz
