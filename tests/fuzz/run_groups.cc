#include "tests/fuzz/run_groups.h"

#include <map>

#include "ir/interpret.h"

namespace tunec::fuzz {

Result<std::vector<Array>> RunGroups(const Graph& graph, const std::vector<FusionGroup>& groups,
                                     std::span<const Array> inputs, const RunGroup& run) {
  std::map<ValueId, Array> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = inputs[i];
  const auto value_of = [&](ValueId value) {
    const Array* constant = graph.ConstantOf(value);
    return constant != nullptr ? *constant : values.at(value);
  };
  for (size_t g = 0; g < groups.size(); ++g) {
    const FusionGroup& group = groups[g];
    TUNEC_ASSIGN(const std::vector<Lowering> lowerings, Lower(graph, group));
    std::vector<Array> arguments;
    for (const ValueId input : group.inputs) arguments.push_back(value_of(input));
    TUNEC_ASSIGN(const std::vector<Array> results, run(g, lowerings, arguments));
    for (size_t i = 0; i < group.outputs.size(); ++i) values[group.outputs[i]] = results[i];
  }
  std::vector<Array> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(value_of(output));
  return outputs;
}

Result<std::vector<Array>> InterpretLowering(const Compute& compute,
                                             std::span<const Array> arguments) {
  const auto internal = [&](const Error& error) {
    return Fail(ErrorCode::kInternal, "{}\n{}", error.Format(), Print(compute));
  };
  if (const Status status = Verify(compute); !status) return internal(status.error());
  auto results = Interpret(compute, arguments, Precision::kNative);
  if (!results) return internal(results.error());
  return results;
}

}  // namespace tunec::fuzz
