// Operands in formulas: handlers that write an operator out in others read as its definition does,
// `Sum((x - mean) * (x - mean), axes)`. An error sticks: what is computed from it is the same
// error, which Take returns in the end. Internal to graph/onnx.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/onnx/node_context.h"

namespace tunec::onnx_import {

class Formula {
 public:
  Formula(const NodeContext& node, Result<Operand> value)
      : node_(&node), value_(std::move(value)) {}

  const NodeContext& node() const { return *node_; }
  const Result<Operand>& value() const { return value_; }
  Result<Operand> Take() const { return value_; }
  bool ok() const { return value_.has_value(); }
  /// Of an error: f32, no dimensions.
  DataType type() const { return ok() ? (*value_)->type : DataType::kF32; }
  OperandShape shape() const { return ok() ? (*value_)->shape : OperandShape(); }
  int64_t rank() const { return ok() ? (*value_)->rank() : 0; }
  /// As NodeContext's; the error of a formula that has one.
  template <size_t N>
  Result<std::array<int64_t, N>> Extents() const {
    if (!ok()) return std::unexpected(value_.error());
    return node_->Extents<N>(*value_);
  }
  Result<int64_t> Extent(int64_t axis) const;

  /// A constant of this operand's type.
  Formula Number(double value) const;
  Formula Cast(DataType type) const;
  Formula Reshape(std::vector<int64_t> shape) const;
  /// With an axis of extent 1 before `axis`.
  Formula Unsqueeze(int64_t axis) const;
  /// Element `index` of `axis`, which goes.
  Formula At(int64_t axis, int64_t index) const;
  Formula Transpose(std::vector<int64_t> perm) const;
  Formula Expand(std::vector<int64_t> shape) const;
  /// begin, begin + step, ... before end along one axis.
  Formula Slice(int64_t axis, int64_t begin, int64_t end, int64_t step = 1) const;

 private:
  const NodeContext* node_;
  Result<Operand> value_;
};

/// Any operator of the graph. Operands are cast to nothing: their types must agree.
Formula Apply(Op op, const std::vector<Formula>& operands, Attributes attributes = {});

Formula operator+(const Formula& a, const Formula& b);
Formula operator-(const Formula& a, const Formula& b);
Formula operator*(const Formula& a, const Formula& b);
Formula operator/(const Formula& a, const Formula& b);
Formula operator+(const Formula& a, double b);
Formula operator-(const Formula& a, double b);
Formula operator-(double a, const Formula& b);
Formula operator*(const Formula& a, double b);
Formula operator/(const Formula& a, double b);
Formula operator-(const Formula& a);
Formula Min(const Formula& a, const Formula& b);
Formula Max(const Formula& a, const Formula& b);
Formula Clamp(const Formula& x, double least, double most);
/// The whole numbers of `position` as indices from 0 to `last`; 0 for NaN.
Formula ClampedIndex(const Formula& position, int64_t last);
Formula Less(const Formula& a, const Formula& b);
Formula LessOrEqual(const Formula& a, const Formula& b);
Formula Equal(const Formula& a, const Formula& b);
Formula And(const Formula& a, const Formula& b);
Formula Where(const Formula& condition, const Formula& yes, const Formula& no);
Formula Sum(const Formula& x, std::vector<int64_t> axes, bool keep = false);
Formula Matmul(const Formula& a, const Formula& b);
Formula Concat(const std::vector<Formula>& parts, int64_t axis);
/// Elements of `data` along the axis.
Formula Gather(const Formula& data, const Formula& indices, int64_t axis = 0);

/// The node's input; an error when it is missing.
Formula In(const NodeContext& node, size_t index);
Formula Constant(const NodeContext& node, Array array);
/// begin, begin + 1, ... below end as i64.
Formula Iota(const NodeContext& node, int64_t begin, int64_t end);

/// A handler's result from formulas.
Result<Operands> Results(const std::vector<Formula>& outputs);

}  // namespace tunec::onnx_import
