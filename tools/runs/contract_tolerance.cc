#include "tools/runs/contract_tolerance.h"

#include <fmt/format.h>

#include <algorithm>

#include "autotune/checker/arguments.h"
#include "graph/ops/op_table.h"
#include "graph/reference.h"
#include "tools/runs/compare_outputs.h"
#include "tools/runs/model_inputs.h"

namespace tunec {
namespace {

// The grid spacings for operands in two executions, relative to the spacing of TF32 or bf16.
constexpr float kGrids[] = {1.0f, 1.25f};
// The factor of the greatest error of these executions in the tolerance.
constexpr double kOtherDraw = 2;

OperandRounding RoundingOf(const Accuracy& accuracy) {
  if (accuracy.mode == AccuracyMode::kTf32) return OperandRounding::kTf32;
  return accuracy.mode == AccuracyMode::kBf16 ? OperandRounding::kBf16 : OperandRounding::kNone;
}

// Returns true if the operand is a factor of a contraction's products, not a bias or a mask.
bool IsFactor(const Node& node, size_t operand) {
  return PatternOf(node.op) == OpPattern::kContraction &&
         operand < (node.op == Op::kAttention ? 3 : 2);
}

// Returns the array rounded to a grid whose spacing is `width` times that of `rounding`. With
// another width, other elements have large errors.
Array RoundedOnGrid(const Array& array, OperandRounding rounding, float width) {
  Array scaled(array.type(), array.shape());
  for (int64_t i = 0; i < array.size(); ++i)
    scaled.MutableAs<float>()[i] = array.As<float>()[i] / width;
  const Array rounded = RoundOperands({&scaled, 1}, rounding).front();
  Array result(array.type(), array.shape());
  for (int64_t i = 0; i < array.size(); ++i)
    result.MutableAs<float>()[i] = rounded.As<float>()[i] * width;
  return result;
}

Result<std::vector<Array>> RunRounded(const Graph& graph, std::span<const Array> inputs,
                                      OperandRounding rounding, float width) {
  return RunReferenceWith(graph, inputs, [&](const Node& node, std::vector<Array>& operands) {
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].type() == DataType::kF32 && IsFactor(node, i))
        operands[i] = RoundedOnGrid(operands[i], rounding, width);
  });
}

}  // namespace

bool RoundsOperands(const Accuracy& accuracy) {
  return RoundingOf(accuracy) != OperandRounding::kNone;
}

Result<VerifyTolerance> PropagatedTolerance(const Graph& graph, std::span<const Array> inputs,
                                            const Accuracy& accuracy,
                                            std::span<const Array> exact) {
  VerifyTolerance of_types = ToleranceFor(graph, accuracy);
  if (!RoundsOperands(accuracy)) return of_types;
  const OperandRounding rounding = RoundingOf(accuracy);
  double error = 0;
  for (const float width : kGrids) {
    TUNEC_ASSIGN(const std::vector<Array> rounded, RunRounded(graph, inputs, rounding, width));
    error = std::max(error, GreatestRelative(CompareOutputs(OutputSpecs(graph), rounded, exact)));
  }
  const double threshold = kOutputTolerance + kOtherDraw * error;
  if (threshold <= of_types.threshold) return of_types;
  return VerifyTolerance{threshold,
                         fmt::format("the contract is {}: twice what rounding the operands of "
                                     "products alone makes of the outputs, {:.3g}",
                                     Print(accuracy), error)};
}

}  // namespace tunec
