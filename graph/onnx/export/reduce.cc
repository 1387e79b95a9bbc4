// Export of reductions, argmax, argmin and cumulative sums as ONNX nodes.
#include <array>

#include "graph/onnx/export/forms.h"

namespace tunec::onnx_export {
namespace {

using Written = Result<std::string>;

/// Returns the type in which a reduction is computed. Integers of 8 and 16 bits are widened, and
/// their results are truncated afterwards.
DataType SumType(DataType type) {
  return IsInteger(type) && SizeOf(type) < 4 ? DataType::kI32 : type;
}

Written WriteReduce(FormContext& node) {
  const DataType type = node.type(), wide = SumType(type);
  const std::string y =
      node.Emit(node.form().onnx_name,
                {node.Cast(node.input(0), type, wide), node.Ints(node.node().Ints("axes"))},
                {{"keepdims", node.node().Int("keepdims")}});
  return node.Cast(y, wide, type);
}

Written WriteCumSum(FormContext& node) {
  const DataType type = node.type(), wide = SumType(type);
  const std::string axis =
      node.Scalar(static_cast<double>(node.node().Int("axis")), DataType::kI64);
  const std::string y = node.Emit(
      "CumSum", {node.Cast(node.input(0), type, wide), axis},
      {{"exclusive", node.node().Int("exclusive")}, {"reverse", node.node().Int("reverse")}});
  return node.Cast(y, wide, type);
}

constexpr auto kForms = std::to_array<ExportForm>({
    {Op::kReduceSum, WriteReduce, "ReduceSum"},
    {Op::kReduceMean, WriteReduce, "ReduceMean"},
    {Op::kReduceMax, WriteReduce, "ReduceMax"},
    {Op::kReduceMin, WriteReduce, "ReduceMin"},
    {Op::kReduceProd, WriteReduce, "ReduceProd"},
    {Op::kReduceL1, WriteReduce, "ReduceL1"},
    {Op::kReduceL2, WriteReduce, "ReduceL2"},
    {Op::kReduceSumSquare, WriteReduce, "ReduceSumSquare"},
    {Op::kReduceLogSumExp, WriteReduce, "ReduceLogSumExp"},
    {Op::kArgMax, WriteWithAttributes, "ArgMax"},
    {Op::kArgMin, WriteWithAttributes, "ArgMin"},
    {Op::kCumSum, WriteCumSum},
});

}  // namespace

std::span<const ExportForm> ReductionForms() { return kForms; }

}  // namespace tunec::onnx_export
