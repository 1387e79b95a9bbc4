// The check of fuzz_graphs, and its settings. Passes, fusion and lowering transform a graph. The
// interpreter executes the result, which may also run as machine code. Outputs are compared with a
// reference execution.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "graph/rules/rule.h"
#include "tests/fuzz/random_values.h"

namespace tunec::fuzz {

/// The settings of a check. fuzz_graphs writes them as a comment above the text of a failing graph.
struct CheckPlan {
  std::vector<std::string> passes;
  FloatRules rules = FloatRules::kStrict;
  FusionMode fusion = FusionMode::kFused;
  size_t lowering = 0;  // number of the lowering in each group; groups with fewer use their last
  Values values = Values::kOrdinary;
  uint64_t seed = 1;         // seed of the inputs and of the random schedule
  bool code = false;         // also runs machine code
  bool stores_bf16 = false;  // also checks the graph with products' operands stored as bfloat16
  bool operator==(const CheckPlan&) const = default;
};

/// Draws a plan. Half of the plans use the default pipeline, a quarter one random pass, and a
/// quarter up to six random passes.
CheckPlan DrawPlan(uint64_t seed, Values values, bool code);
/// Prints a plan, for example
/// `# check passes=a,b rules=strict fusion=fused lowering=0 values=ordinary seed=1 code=0 terms=0`
std::string Print(const CheckPlan& plan);
Result<CheckPlan> ParsePlan(std::string_view text);

enum class Outcome : uint8_t {
  kEqual,
  kRejected,  // an error value says that the combination is not supported
  kWrong,
};
struct CheckResult {
  Outcome outcome = Outcome::kEqual;
  std::string reason;  // reason of a rejection, or stage and description of a wrong result
};

/// Returns true for kUnsupported and kResourceLimit, which valid graphs may cause.
bool IsRejection(const Error& error);

CheckResult CheckGraph(const Graph& graph, const CheckPlan& plan);

}  // namespace tunec::fuzz
