#include "graph/onnx/formula.h"

#include <numeric>

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

Formula Formula::Cast(DataType type) const {
  return ok() ? Formula(*node_, node_->Cast(*value_, type)) : *this;
}

Formula Formula::Reshape(std::vector<int64_t> shape) const {
  return ok() ? Formula(*node_, node_->Reshape(*value_, std::move(shape))) : *this;
}

Formula Formula::Unsqueeze(int64_t axis) const {
  std::vector<int64_t> longer = shape();
  if (!ok()) return *this;
  longer.insert(longer.begin() + (axis < 0 ? axis + rank() + 1 : axis), 1);
  return Reshape(std::move(longer));
}

Formula Formula::Transpose(std::vector<int64_t> perm) const {
  return ok() ? Formula(*node_, node_->Transpose(*value_, std::move(perm))) : *this;
}

Formula Formula::Expand(std::vector<int64_t> shape) const {
  return ok() ? Formula(*node_, node_->Expand(*value_, std::move(shape))) : *this;
}

Formula Formula::Slice(int64_t axis, int64_t begin, int64_t end, int64_t step) const {
  if (!ok()) return *this;
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank() : axis);
  std::vector<int64_t> starts(shape().size(), 0);
  std::vector<int64_t> ends = shape();
  std::vector<int64_t> steps(shape().size(), 1);
  if (begin == 0 && end == ends[at] && step == 1) return *this;
  starts[at] = begin;
  ends[at] = end;
  steps[at] = step;
  return Apply(Op::kSlice, {*this}, {{"starts", starts}, {"ends", ends}, {"steps", steps}});
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
Formula Less(const Formula& a, const Formula& b) { return Apply(Op::kLt, {a, b}); }
Formula LessOrEqual(const Formula& a, const Formula& b) { return Apply(Op::kLe, {a, b}); }
Formula Equal(const Formula& a, const Formula& b) { return Apply(Op::kEq, {a, b}); }
Formula And(const Formula& a, const Formula& b) { return Apply(Op::kAnd, {a, b}); }
Formula Where(const Formula& condition, const Formula& yes, const Formula& no) {
  return Apply(Op::kWhere, {condition, yes, no});
}

Formula Sum(const Formula& x, std::vector<int64_t> axes, bool keep) {
  return Apply(Op::kReduceSum, {x}, {{"axes", std::move(axes)}, {"keepdims", int64_t{keep}}});
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

Formula Iota(const NodeContext& node, int64_t begin, int64_t end) {
  std::vector<int64_t> values(static_cast<size_t>(end - begin));
  std::iota(values.begin(), values.end(), begin);
  return {node, node.Ints64(values)};
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
