// Formulas over operands. A handler that expands an operator can be written like the operator's
// definition, as in `Sum((x - mean) * (x - mean), axes)`. Errors propagate through a formula to
// Take or Results. Only graph/onnx uses this file.
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
  /// Returns the type, or f32 for an error. The shape of an error has no dimensions.
  DataType type() const { return ok() ? (*value_)->type : DataType::kF32; }
  OperandShape shape() const { return ok() ? (*value_)->shape : OperandShape(); }
  int64_t rank() const { return ok() ? (*value_)->rank() : 0; }
  /// Returns the extents like NodeContext::Extents, or the formula's error.
  template <size_t N>
  Result<std::array<int64_t, N>> Extents() const {
    if (!ok()) return std::unexpected(value_.error());
    return node_->Extents<N>(*value_);
  }
  Result<int64_t> Extent(int64_t axis) const;
  /// Returns the dimensions like NodeContext::Dims, or the formula's error.
  template <size_t N>
  Result<std::array<Dim, N>> Dims() const {
    if (!ok()) return std::unexpected(value_.error());
    return node_->Dims<N>(*value_);
  }
  Result<Dim> DimOf(int64_t axis) const;

  /// Returns `value` as a constant of rank 0 and of the type `type()`.
  Formula Number(double value) const;
  /// Returns a size as a scalar of the type `type()`.
  Formula Size(const Dim& size) const;
  Formula Cast(DataType type) const;
  Formula Reshape(const OperandShape& shape) const;
  /// Returns this operand with an added axis of extent 1, which is `axis` of the result.
  Formula Unsqueeze(int64_t axis) const;
  /// Returns the slice at position `index` of `axis`, without this axis.
  Formula At(int64_t axis, const Dim& index) const;
  Formula Transpose(std::vector<int64_t> perm) const;
  Formula Expand(const OperandShape& shape) const;
  /// Returns the elements begin, begin + step, ... before end along one axis.
  Formula Slice(int64_t axis, const Dim& begin, const Dim& end, int64_t step = 1) const;

 private:
  const NodeContext* node_;
  Result<Operand> value_;
};

/// Emits a graph operator, without casts, or returns the first error among the operands.
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
/// Returns x clamped to 0..last.
Formula ClampedTo(const Formula& x, const Dim& last);
/// Returns `position` as i64 indices, clamped to 0..last; 0 for NaN.
Formula ClampedIndex(const Formula& position, const Dim& last);
Formula Less(const Formula& a, const Formula& b);
Formula LessOrEqual(const Formula& a, const Formula& b);
Formula Equal(const Formula& a, const Formula& b);
Formula And(const Formula& a, const Formula& b);
Formula Where(const Formula& condition, const Formula& yes, const Formula& no);
Formula Sum(const Formula& x, std::vector<int64_t> axes, bool keepdims = false);
Formula Matmul(const Formula& a, const Formula& b);
Formula Concat(const std::vector<Formula>& parts, int64_t axis);
/// Returns the elements of `data` at `indices` along the axis.
Formula Gather(const Formula& data, const Formula& indices, int64_t axis = 0);

/// Returns the node's input. Fails if it is missing.
Formula In(const NodeContext& node, size_t index);
Formula Constant(const NodeContext& node, Array array);
/// Returns begin, begin + 1, ... below end as i64.
Formula Iota(const NodeContext& node, const Dim& begin, const Dim& end);

/// Returns the outputs as a handler's result, or the first error among them.
Result<Operands> Results(const std::vector<Formula>& outputs);

}  // namespace tunec::onnx_import
