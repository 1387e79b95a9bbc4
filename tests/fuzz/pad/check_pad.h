// A function that checks a padded graph. The graph runs with random elements in the padding, by the
// reference and perhaps as machine code. The exact elements must equal the exact graph's results.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/pad/pad_graph.h"
#include "tests/fuzz/check_graph.h"
#include "tests/fuzz/pad/sized_model.h"

namespace tunec::fuzz {

struct PadCase {
  SizedModel model;
  uint64_t seed = 1;  // seed of the inputs and of the garbage
  bool code = false;  // also runs machine code
};

struct PadResult {
  CheckResult result;
  int runs = 0;      // sets of sizes at which the padded graph ran
  int excluded = 0;  // sets of sizes at which a condition does not hold
};

/// The function that pads a graph. It is PadGraph, or a faulty function that a test plants.
using Pads = std::function<Result<PaddedGraph>(const Graph& named, const SizeValues& bucket)>;

/// Pads the model's graph once. Runs it at the sizes of kExact and kOther if all conditions hold.
PadResult CheckPad(const PadCase& padded, const Pads& pads = PadGraph);

/// Returns random inputs for a graph with fixed sizes. Some inputs named index... have one index of
/// 90 or 3, which can be out of range. Inputs named positive... have elements from 1 to 5.
std::vector<Array> InputsOf(const Graph& graph, Values values, uint64_t seed);

/// Returns the case as text: a line such as `# pad values=ordinary seed=1 code=0`, a line such as
/// `# sizes n0=3,8,5` with the numbers in the order of kSizeSets, and the graph with names.
std::string Print(const PadCase& padded);
/// Errors: those of ParseGraph, and of Specialize at one of the sets of sizes.
Result<PadCase> ParsePadCase(const std::string& text);

}  // namespace tunec::fuzz
