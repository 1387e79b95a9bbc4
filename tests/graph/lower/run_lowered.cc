#include "tests/graph/lower/run_lowered.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "graph/reference.h"
#include "tests/graph/fuse_groups.h"
#include "tests/graph/lower/value_storage.h"

namespace tunec {

Array RandomArray(DataType type, std::vector<int64_t> shape, Random& random, int64_t bound) {
  Array array(type, std::move(shape));
  for (int64_t i = 0; i < array.size(); ++i) {
    if (IsFloat(type)) {
      array.SetDouble(i, 2 * static_cast<double>(random.Unit()) - 1);
    } else {
      array.SetInt(i, static_cast<int64_t>(random.Below(type == DataType::kBool ? 2 : bound)));
    }
  }
  return array;
}

std::vector<Array> RandomInputs(const Graph& graph, Random& random, int64_t bound) {
  std::vector<Array> inputs;
  for (const ValueId input : graph.inputs()) {
    const ValueType& type = graph.value(input).type;
    inputs.push_back(RandomArray(type.type, type.Shape(), random, bound));
  }
  return inputs;
}

// Checks that all lowerings of a group have the same arguments. A schedule may name any of the
// lowerings, but trials and databases look up an argument's name and constness in the first
// (older_schedules.h).
Status CheckSameArguments(const std::vector<Lowering>& lowerings) {
  const auto arguments = [](const Compute& compute) {
    Tensors tensors = compute.tensors;
    EraseIf(tensors, [](const Tensor& tensor) { return tensor.role == TensorRole::kWorkspace; });
    return tensors;
  };
  for (const Lowering& other : lowerings) {
    if (arguments(other.compute) == arguments(lowerings[0].compute)) continue;
    return Fail(ErrorCode::kInternal, "other arguments:\n{}\nbut\n{}", Print(lowerings[0].compute),
                Print(other.compute));
  }
  return {};
}

Result<std::vector<Array>> RunLowered(const Graph& graph, const std::vector<Array>& inputs,
                                      FusionMode mode, size_t choice) {
  TUNEC_ASSIGN(const FusionPlan plan, PlanFusion(graph, mode));
  ValueStorage values(graph, plan);
  for (size_t i = 0; i < inputs.size(); ++i) values.Store(graph.inputs()[i], inputs[i]);
  for (const FusionGroup& group : plan.groups) {
    TUNEC_ASSIGN(const std::vector<Lowering> lowerings, Lower(graph, group));
    TUNEC_RETURN_IF_ERROR(CheckSameArguments(lowerings));
    const Compute& compute = lowerings[std::min(choice, lowerings.size() - 1)].compute;
    TUNEC_RETURN_IF_ERROR(Verify(compute));
    const std::string text = Print(compute);
    TUNEC_ASSIGN(const Compute parsed, ParseCompute(text, "lowering"));
    if (!(parsed == compute))
      return Fail(ErrorCode::kInternal, "text that does not read back:\n{}\nbut\n{}", text,
                  Print(parsed));
    std::vector<Array> arguments;
    for (const ValueId input : group.inputs) arguments.push_back(values.Load(input));
    auto results = Interpret(compute, arguments, Precision::kNative);
    if (!results)
      return Fail(results.error().code, "{}\n{}", results.error().message, Print(compute));
    for (size_t i = 0; i < group.outputs.size(); ++i) values.Store(group.outputs[i], (*results)[i]);
  }
  std::vector<Array> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(values.Load(output));
  return outputs;
}

double RelativeError(const Array& actual, const Array& expected) {
  double largest = 0;
  double difference = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const double a = actual.GetDouble(i);
    const double e = expected.GetDouble(i);
    if (std::isnan(a) && std::isnan(e)) continue;
    if (a == e) {
      if (std::isfinite(e)) largest = std::max(largest, std::abs(e));
      continue;
    }
    if (!std::isfinite(a) || !std::isfinite(e)) return HUGE_VAL;
    largest = std::max(largest, std::abs(e));
    difference = std::max(difference, std::abs(a - e));
  }
  return difference == 0 ? 0 : difference / std::max(largest, 1e-30);
}

std::string LoweringText(const Graph& graph, FusionMode mode, size_t group, size_t choice) {
  const auto groups = Fuse(graph, mode);
  if (!groups) return groups.error().Format();
  const auto lowerings = Lower(graph, groups->at(group));
  if (!lowerings) return lowerings.error().Format();
  return Print(lowerings->at(choice).compute);
}

void ExpectSameAsReference(const Graph& graph, double tolerance, uint64_t seed) {
  Random random(seed);
  const std::vector<Array> inputs = RandomInputs(graph, random);
  const auto expected = RunReference(graph, inputs, Precision::kNative);
  ASSERT_TRUE(expected) << expected.error().Format();
  for (const FusionMode mode : {FusionMode::kUnfused, FusionMode::kFused}) {
    for (const size_t choice : {0, 1}) {
      const auto actual = RunLowered(graph, inputs, mode, choice);
      ASSERT_TRUE(actual) << actual.error().Format();
      ASSERT_EQ(actual->size(), expected->size());
      for (size_t i = 0; i < actual->size(); ++i) {
        EXPECT_EQ((*actual)[i].shape(), (*expected)[i].shape());
        EXPECT_EQ((*actual)[i].type(), (*expected)[i].type());
        EXPECT_LE(RelativeError((*actual)[i], (*expected)[i]), tolerance)
            << graph.name() << " output " << i << (mode == FusionMode::kFused ? " fused" : "")
            << " choice " << choice << "\n"
            << LoweringText(graph, mode, 0, 0);
      }
    }
  }
}

}  // namespace tunec
