// The first argument of a handler: the imported node, with typed access to inputs and attributes,
// and functions that emit nodes. Only graph/onnx uses this file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "graph/onnx/file/model.h"
#include "graph/onnx/operand.h"
#include "support/error.h"

namespace tunec::onnx_import {

using Operands = std::vector<Operand>;

/// Largest rank in rank checks of handlers for operators whose rank ONNX does not limit.
inline constexpr int64_t kMostAxes = 32;

class NodeContext {
 public:
  NodeContext(const OnnxNode& node, Operands inputs, int64_t version, Emitter& emitter)
      : node_(node), inputs_(std::move(inputs)), version_(version), emitter_(emitter) {}

  const OnnxNode& node() const { return node_; }
  /// Returns the opset of the node's domain in the model, or in the function that contains the
  /// node.
  int64_t version() const { return version_; }
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return node_.outputs.size(); }
  /// Returns whether output `index` exists and has a name.
  bool HasOutput(size_t index) const;

  bool HasInput(size_t index) const { return OptionalInput(index) != nullptr; }
  Result<Operand> Input(size_t index) const;
  Operand OptionalInput(size_t index) const;
  /// Returns the inputs without omitted ones at the end. Fails if another input is omitted, or if
  /// the node has no inputs.
  Result<Operands> Inputs() const;
  /// Returns the input's elements. Fails with kUnsupported if they are unknown while importing.
  Result<Array> ConstantInput(size_t index) const;
  Result<std::vector<int64_t>> ConstantInts(size_t index) const;
  /// Returns integers that may contain named sizes. Fails like ConstantInts for other values.
  Result<std::vector<Dim>> Sizes(size_t index) const;
  Result<int64_t> ConstantInt(size_t index) const;
  Result<double> ConstantFloat(size_t index) const;

  /// Returns the dimensions of an operand with exactly N axes, for a structured binding.
  template <size_t N>
  Result<std::array<Dim, N>> Dims(const Operand& operand) const {
    TUNEC_RETURN_IF_ERROR(RequireRank(operand, N, N));
    std::array<Dim, N> dims;
    std::ranges::copy(operand->shape.list(), dims.begin());
    return dims;
  }
  /// Returns one dimension. A negative axis counts from the end.
  Result<Dim> DimOf(const Operand& operand, int64_t axis) const;
  /// Extents and Extent are like Dims and DimOf, and Shape returns all dimensions. They fail with
  /// kUnsupported for a named size.
  template <size_t N>
  Result<std::array<int64_t, N>> Extents(const Operand& operand) const {
    TUNEC_RETURN_IF_ERROR(RequireRank(operand, N, N));
    TUNEC_ASSIGN(const std::vector<int64_t> shape, Shape(operand));
    std::array<int64_t, N> extents;
    std::ranges::copy(shape, extents.begin());
    return extents;
  }
  Result<int64_t> Extent(const Operand& operand, int64_t axis) const;
  Result<std::vector<int64_t>> Shape(const Operand& operand) const;
  /// Returns the sizes as integers. Fails with kUnsupported for a named size.
  static Result<std::vector<int64_t>> Numbers(const std::vector<Dim>& sizes);
  /// Returns whether the sizes are equal. Fails with kUnsupported if this depends on named sizes.
  static Result<bool> AreEqual(const Dim& a, const Dim& b);
  static Result<bool> HaveEqualShapes(const Operand& a, const Operand& b);
  /// Returns whether a <= b. Fails with kUnsupported if this depends on named sizes.
  static Result<bool> IsAtMost(const Dim& a, const Dim& b);
  Status RequireRank(const Operand& operand, int64_t least, int64_t most) const;
  /// Returns text for messages, such as "input 3 ('B') is 8x4".
  std::string Describe(const Operand& operand) const;

  bool HasAttribute(std::string_view name) const { return node_.attributes.contains(name); }
  /// Returns the attribute or the default. Fails if the attribute has another kind.
  Result<int64_t> Int(std::string_view name, int64_t otherwise) const;
  Result<double> Float(std::string_view name, double otherwise) const;
  Result<std::string> String(std::string_view name, std::string otherwise) const;
  /// Returns a string that must be one of `known`; the first of them if the attribute is absent.
  Result<std::string> Choice(std::string_view name, std::initializer_list<std::string> known) const;
  Result<std::vector<int64_t>> Ints(std::string_view name, std::vector<int64_t> otherwise) const;
  Result<std::vector<std::string>> Strings(std::string_view name,
                                           std::vector<std::string> otherwise) const;
  /// Returns an attribute. Fails if it is absent or has another kind.
  Result<std::vector<double>> Floats(std::string_view name) const;
  Result<Array> Tensor(std::string_view name) const;
  /// Returns the axis in an attribute, or the default, counted from the front.
  Result<int64_t> Axis(std::string_view name, int64_t otherwise, int64_t rank) const;

  Result<Operand> Emit(Op op, const Operands& inputs, Attributes attributes = {}) const;
  /// Returns whether the handlers of Slice and Pad emit nodes without effect at the imported sizes.
  bool RetainsNoOps() const { return emitter_.retains_no_ops(); }
  Operand Constant(Array array) const { return emitter_.AddConstant(std::move(array)); }
  Operand Ints64(const std::vector<int64_t>& values) const;
  /// Returns a constant of rank 0.
  Operand Scalar(double value, DataType type) const;
  /// Returns integers of type i64 with one axis, which may contain named sizes.
  Operand Sizes64(std::vector<Dim> values) const;
  Result<Operand> Full(const OperandShape& shape, const Array& value) const;

  Result<Operand> Reshape(const Operand& x, const OperandShape& shape) const;
  Result<Operand> Transpose(const Operand& x, std::vector<int64_t> perm) const;
  Result<Operand> Expand(const Operand& x, const OperandShape& shape) const;
  Result<Operand> Cast(const Operand& x, DataType type) const;  // emits nothing if x has the type

 private:
  const OnnxNode& node_;
  Operands inputs_;
  int64_t version_;
  Emitter& emitter_;
};

/// Returns the element type for ONNX's number. Fails with kUnsupported for strings and other types
/// that tunec lacks.
Result<DataType> ElementType(int64_t onnx_type);
/// Returns `axis` counted from the front. Fails if it is not in [-rank, rank).
Result<int64_t> NormalizeAxis(int64_t axis, int64_t rank);
/// Returns the axes counted from the front, in ascending order. Fails if an axis is repeated or not
/// in [-rank, rank).
Result<std::vector<int64_t>> NormalizeAxes(std::vector<int64_t> axes, int64_t rank);
/// Returns the float type in which operands of these types are combined before one rounding. This
/// is the widest of the floats, at least f32.
DataType CombinedType(std::initializer_list<DataType> types);
/// Returns whether two shapes of equal rank are equal at some sizes.
bool MayBeEqual(const std::vector<Dim>& a, const std::vector<Dim>& b);
/// Returns all axes of a value with this rank, in order.
std::vector<int64_t> AllAxes(int64_t rank);
/// Returns the elements as integers.
std::vector<int64_t> ToInts(const Array& array);
/// Returns the values as a one-dimensional i64 array.
Array IntArray(const std::vector<int64_t>& values);
/// Returns the product of the values at the existing indices in [begin, end). Returns -1 if one of
/// these values is negative or if the product exceeds the limit of shapes.
int64_t Product(const std::vector<int64_t>& values, size_t begin, size_t end);

/// Returns the operand as the only output of a handler, or the operand's error.
inline Result<Operands> One(Result<Operand> operand) {
  if (!operand) return std::unexpected(std::move(operand).error());
  return Operands{*std::move(operand)};
}

}  // namespace tunec::onnx_import
