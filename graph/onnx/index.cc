// Operators that look elements up.
#include <array>

#include "graph/onnx/handlers.h"

namespace tunec::onnx_import {
namespace {

Result<Operands> Gather(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand indices, node.Input(1));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", 0, x->rank()));
  return One(node.Emit(op, {x, indices}, {{"axis", axis}}));
}

/// Rows of the last axis of `indices` are positions in the leading axes of x: their row-major
/// number selects from x with these axes made one.
Result<Operands> GatherNd(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const Operand x, node.Input(0));
  TUNEC_ASSIGN(const Operand given, node.Input(1));
  TUNEC_ASSIGN(const int64_t batch, node.Int("batch_dims", 0));
  if (batch != 0) return Fail(ErrorCode::kUnsupported, "batch_dims is {}, wanted 0", batch);
  const int64_t depth = given->shape.empty() ? 0 : given->shape.back();
  if (depth < 1 || depth > x->rank()) {
    return Fail(ErrorCode::kInvalidArgument, "indices have {} positions each, wanted 1 to {}",
                depth, x->rank());
  }
  const auto axes = static_cast<size_t>(depth);
  std::vector<int64_t> strides(axes, 1);
  for (size_t i = axes - 1; i-- > 0;) strides[i] = strides[i + 1] * x->shape[i + 1];
  const std::vector<int64_t> sizes(x->shape.begin(), x->shape.begin() + depth);
  TUNEC_ASSIGN(const Operand indices, node.Cast(given, DataType::kI64));
  TUNEC_ASSIGN(const Operand is_negative,
               node.Emit(Op::kLt, {indices, node.Scalar(0, DataType::kI64)}));
  TUNEC_ASSIGN(const Operand wrapped, node.Emit(Op::kAdd, {indices, node.Ints64(sizes)}));
  TUNEC_ASSIGN(const Operand positions, node.Emit(Op::kWhere, {is_negative, wrapped, indices}));
  TUNEC_ASSIGN(const Operand scaled, node.Emit(Op::kMul, {positions, node.Ints64(strides)}));
  TUNEC_ASSIGN(const Operand numbers, node.Emit(Op::kReduceSum, {scaled},
                                                {{"axes", std::vector<int64_t>{given->rank() - 1}},
                                                 {"keepdims", int64_t{0}}}));
  std::vector<int64_t> shape(x->shape.begin() + depth, x->shape.end());
  shape.insert(shape.begin(), Product(x->shape, 0, axes));
  TUNEC_ASSIGN(const Operand table, node.Reshape(x, shape));
  return One(node.Emit(Op::kGather, {table, numbers}, {{"axis", int64_t{0}}}));
}

Result<Operands> OneHot(const NodeContext& node, Op op) {
  TUNEC_ASSIGN(const Operand indices, node.Input(0));
  TUNEC_ASSIGN(const double depth, node.ConstantFloat(1));
  TUNEC_ASSIGN(const Array values, node.ConstantInput(2));
  TUNEC_ASSIGN(const int64_t axis, node.Axis("axis", -1, indices->rank() + 1));
  if (values.size() != 2 || !(depth >= 1 && depth <= 1 << 30)) {
    return Fail(ErrorCode::kInvalidArgument, "depth is {} with {} values, wanted at least 1 with 2",
                depth, values.size());
  }
  return One(node.Emit(op, {indices},
                       {{"axis", axis},
                        {"depth", static_cast<int64_t>(depth)},
                        {"off_value", values.GetDouble(0)},
                        {"on_value", values.GetDouble(1)},
                        {"to", std::string(Name(values.type()))}}));
}

constexpr auto kHandlers = std::to_array<Handler>({
    {"Gather", 1, Gather, Op::kGather},
    {"GatherElements", 11, Gather, Op::kGatherElements},
    {"GatherND", 11, GatherNd},
    {"OneHot", 9, OneHot, Op::kOneHot},
});

}  // namespace

std::span<const Handler> IndexHandlers() { return kHandlers; }

}  // namespace tunec::onnx_import
