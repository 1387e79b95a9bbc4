#include "graph/onnx/handlers/formula.h"

#include <string>

#include "support/check.h"

namespace tunec::onnx_import {

Formula Apply(Op op, const std::vector<Formula>& operands, Attributes attributes) {
  TUNEC_CHECK(!operands.empty(), "a formula of {} without operands", Name(op));
  const NodeContext& node = operands.front().node();
  Operands values;
  for (const Formula& operand : operands) {
    if (!operand.ok()) return operand;
    values.push_back(*operand.value());
  }
  return {node, node.Emit(op, values, std::move(attributes))};
}

Formula Formula::Number(double value) const { return {*node_, node_->Scalar(value, type())}; }

Formula Formula::Size(const Dim& size) const {
  if (size.IsConstant()) return Number(static_cast<double>(size.Value()));
  const Formula number(*node_, node_->Reshape(node_->Sizes64({size}), {}));
  return number.Cast(type());
}

Formula Formula::Cast(DataType type) const {
  return ok() ? Formula(*node_, node_->Cast(*value_, type)) : *this;
}

Formula Formula::Reshape(const OperandShape& shape) const {
  return ok() ? Formula(*node_, node_->Reshape(*value_, shape)) : *this;
}

Result<int64_t> Formula::Extent(int64_t axis) const {
  if (!ok()) return std::unexpected(value_.error());
  return node_->Extent(*value_, axis);
}

Result<Dim> Formula::DimOf(int64_t axis) const {
  if (!ok()) return std::unexpected(value_.error());
  return node_->DimOf(*value_, axis);
}

Formula Formula::Unsqueeze(int64_t axis) const {
  if (!ok()) return *this;
  const auto at = NormalizeAxis(axis, rank() + 1);
  if (!at) {
    return {*node_, Fail(ErrorCode::kInvalidArgument, "{}, expected rank {} or more",
                         node_->Describe(*value_), axis < 0 ? -axis - 1 : axis)};
  }
  std::vector<Dim> longer = shape();
  longer.insert(longer.begin() + *at, 1);
  return Reshape(std::move(longer));
}

Formula Formula::At(int64_t axis, const Dim& index) const {
  const auto extent = DimOf(axis);
  if (!extent) return {*node_, std::unexpected(extent.error())};
  std::vector<Dim> rest = shape();
  rest.erase(rest.begin() + (axis < 0 ? axis + rank() : axis));
  return Slice(axis, index, index + 1).Reshape(std::move(rest));
}

Formula Formula::Transpose(std::vector<int64_t> perm) const {
  return ok() ? Formula(*node_, node_->Transpose(*value_, std::move(perm))) : *this;
}

Formula Formula::Expand(const OperandShape& shape) const {
  return ok() ? Formula(*node_, node_->Expand(*value_, shape)) : *this;
}

Formula Formula::Slice(int64_t axis, const Dim& begin, const Dim& end, int64_t step) const {
  const auto extent = DimOf(axis);
  if (!extent) return {*node_, std::unexpected(extent.error())};
  if (begin == Dim(0) && end == *extent && step == 1) return *this;
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank() : axis);
  std::vector<Dim> starts(shape().size(), 0);
  std::vector<Dim> ends = shape();
  std::vector<int64_t> steps(shape().size(), 1);
  starts[at] = begin;
  ends[at] = end;
  steps[at] = step;
  return Apply(Op::kSlice, {*this},
               {{"starts", SizesAttribute(std::move(starts))},
                {"ends", SizesAttribute(std::move(ends))},
                {"steps", steps}});
}

Formula operator+(const Formula& a, const Formula& b) { return Apply(Op::kAdd, {a, b}); }
Formula operator-(const Formula& a, const Formula& b) { return Apply(Op::kSub, {a, b}); }
Formula operator*(const Formula& a, const Formula& b) { return Apply(Op::kMul, {a, b}); }
Formula operator/(const Formula& a, const Formula& b) { return Apply(Op::kDiv, {a, b}); }
Formula operator+(const Formula& a, double b) { return a + a.Number(b); }
Formula operator-(const Formula& a, double b) { return a - a.Number(b); }
Formula operator-(double a, const Formula& b) { return b.Number(a) - b; }
Formula operator*(const Formula& a, double b) { return a * a.Number(b); }
Formula operator/(const Formula& a, double b) { return a / a.Number(b); }
Formula operator-(const Formula& a) { return Apply(Op::kNeg, {a}); }
Formula Min(const Formula& a, const Formula& b) { return Apply(Op::kMin, {a, b}); }
Formula Max(const Formula& a, const Formula& b) { return Apply(Op::kMax, {a, b}); }
Formula Clamp(const Formula& x, double least, double most) {
  return Min(Max(x, x.Number(least)), x.Number(most));
}
Formula ClampedTo(const Formula& x, const Dim& last) {
  return Min(Max(x, x.Number(0)), x.Size(last));
}
Formula ClampedIndex(const Formula& position, const Dim& last) {
  const Formula index = ClampedTo(position, last).Cast(DataType::kI64);
  return Max(index, index.Number(0));  // the cast turns NaN into the smallest integer
}
Formula Less(const Formula& a, const Formula& b) { return Apply(Op::kLt, {a, b}); }
Formula LessOrEqual(const Formula& a, const Formula& b) { return Apply(Op::kLe, {a, b}); }
Formula Equal(const Formula& a, const Formula& b) { return Apply(Op::kEq, {a, b}); }
Formula And(const Formula& a, const Formula& b) { return Apply(Op::kAnd, {a, b}); }
Formula Where(const Formula& condition, const Formula& yes, const Formula& no) {
  return Apply(Op::kWhere, {condition, yes, no});
}

Formula Sum(const Formula& x, std::vector<int64_t> axes, bool keepdims) {
  return Apply(Op::kReduceSum, {x}, {{"axes", std::move(axes)}, {"keepdims", int64_t{keepdims}}});
}

Formula Matmul(const Formula& a, const Formula& b) { return Apply(Op::kMatmul, {a, b}); }

Formula Concat(const std::vector<Formula>& parts, int64_t axis) {
  return parts.size() == 1 ? parts.front() : Apply(Op::kConcat, parts, {{"axis", axis}});
}

Formula Gather(const Formula& data, const Formula& indices, int64_t axis) {
  return Apply(Op::kGather, {data, indices}, {{"axis", axis}});
}

Formula In(const NodeContext& node, size_t index) { return {node, node.Input(index)}; }

Formula Constant(const NodeContext& node, Array array) {
  return {node, node.Constant(std::move(array))};
}

Formula Iota(const NodeContext& node, const Dim& begin, const Dim& end) {
  // A long range stays an operator, because a small model can request any length.
  return {node, node.Emit(Op::kRange, {},
                          {{"start", NumberAttribute(begin)},
                           {"limit", NumberAttribute(end)},
                           {"delta", 1.0},
                           {"to", std::string(Name(DataType::kI64))}})};
}

Result<Operands> Results(const std::vector<Formula>& outputs) {
  Operands operands;
  for (const Formula& output : outputs) {
    if (!output.ok()) return std::unexpected(output.value().error());
    operands.push_back(*output.value());
  }
  return operands;
}

}  // namespace tunec::onnx_import
