#include "tests/fuzz/run_groups.h"

#include "ir/interpret/interpret.h"
#include "polyhedral/check_elements.h"
#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/value_storage.h"

namespace tunec::fuzz {

Result<std::vector<Array>> RunGroups(const Graph& graph, const FusionPlan& plan,
                                     std::span<const Array> inputs, const RunGroup& run) {
  ValueStorage values(graph, plan);
  for (size_t i = 0; i < inputs.size(); ++i) values.Store(graph.inputs()[i], inputs[i]);
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const FusionGroup& group = plan.groups[g];
    TUNEC_ASSIGN(const std::vector<Lowering> lowerings, Lower(graph, group));
    std::vector<Array> arguments;
    for (const ValueId input : group.inputs) arguments.push_back(values.Load(input));
    TUNEC_ASSIGN(const std::vector<Array> results, run(g, lowerings, arguments));
    for (size_t i = 0; i < group.outputs.size(); ++i) values.Store(group.outputs[i], results[i]);
  }
  std::vector<Array> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(values.Load(output));
  return outputs;
}

Result<std::vector<Array>> InterpretLowering(const Compute& compute,
                                             std::span<const Array> arguments) {
  const auto internal = [&](const Error& error) {
    return Fail(ErrorCode::kInternal, "{}\n{}", error.Format(), Print(compute));
  };
  if (const Status status = Verify(compute); !status) return internal(status.error());
  if (const Status status = CheckElements(compute); !status) return internal(status.error());
  auto results = Interpret(compute, arguments, Precision::kNative);
  if (!results) return internal(results.error());
  return results;
}

}  // namespace tunec::fuzz
