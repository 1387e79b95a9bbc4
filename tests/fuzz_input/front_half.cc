#include "tests/fuzz_input/front_half.h"

#include <algorithm>

#include "graph/open_dimensions.h"
#include "graph/passes/pipeline.h"
#include "tests/fuzz_input/finding.h"
#include "tests/graph/fuse_groups.h"

namespace tunec::fuzz {
namespace {

// Larger graphs are not run. They would repeat the checks of a few groups, and take too long.
constexpr size_t kMostNodes = 400;

void CheckLowering(const Compute& compute) {
  RequireOk(Verify(compute), "a lowered compute verifies");
  const std::string text = Print(compute);
  const Result<Compute> again = ParseCompute(text, "lowered");
  RequireOk(again, "a lowered compute's text parses");
  // Texts are compared, because a NaN is not equal to itself.
  Require(Print(*again) == text, "a lowered compute's text reads back");
}

}  // namespace

void RunFrontHalf(const Graph& graph) {
  RequireOk(Verify(graph), "a graph that was read verifies");
  if (graph.nodes().size() > kMostNodes || !RequireFixedSizes(graph)) return;
  const Result<PipelineResult> simplified = RunPipeline(graph);
  if (!simplified) return RequireTheirFault(simplified.error(), "the passes");
  const Result<FusionPlan> plan = PlanFusion(simplified->graph, FusionMode::kFused);
  if (!plan) return RequireTheirFault(plan.error(), "fusion");
  for (const FusionGroup& group : plan->groups) {
    const Result<std::vector<Lowering>> lowerings = Lower(simplified->graph, group);
    if (!lowerings) {
      RequireTheirFault(lowerings.error(), "lowering");
      continue;
    }
    for (const Lowering& lowering : *lowerings) CheckLowering(lowering.compute);
  }
}

}  // namespace tunec::fuzz
