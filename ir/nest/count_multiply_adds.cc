// A count of the multiply-adds that a LoopNest executes. Each store contributes the multiply-adds
// of one execution times its number of executions.
#include <algorithm>

#include "ir/loop_nest.h"
#include "ir/multiply_add.h"
#include "ir/nest/sample_instances.h"

namespace tunec {
namespace {

double MultiplyAddsOf(const Store& store) {
  double count = 0;
  VisitMultiplyAdds(store.values, store.reducer, [&](const MultiplyAdd&) { count += 1; });
  return count;
}

bool IsInVector(const SampledStore& sampled) {
  return std::ranges::any_of(sampled.loops, [](const RunningLoop& running) {
    return running.loop->kind == LoopKind::kVector;
  });
}

}  // namespace

MultiplyAdds CountMultiplyAdds(const LoopNest& nest) {
  MultiplyAdds result;
  for (const Phase& phase : nest.phases) {
    SampleInstances(phase.body, nest.variables.size(), [&](const SampledStore& sampled) {
      const double count = MultiplyAddsOf(sampled.store) * sampled.count;
      result.total += count;
      if (IsInVector(sampled)) result.vector += count;
    });
  }
  return result;
}

}  // namespace tunec
