#include "graph/onnx/node_context.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "graph/onnx/file/parse_tensor.h"
#include "ir/size/size_condition.h"
#include "ir/size/size_text.h"

namespace tunec::onnx_import {
namespace {

/// Returns the attribute as a T, or the default if it is absent. Fails for another kind.
template <class T>
Result<T> Get(const OnnxNode& node, std::string_view name, T otherwise, std::string_view expected) {
  const auto it = node.attributes.find(name);
  if (it == node.attributes.end()) return otherwise;
  if (const T* value = std::get_if<T>(&it->second)) return *value;
  if (const auto* other = std::get_if<UnsupportedAttribute>(&it->second)) {
    return Fail(ErrorCode::kUnsupported, "attribute '{}' is not supported: {}", name, other->kind);
  }
  return Fail(ErrorCode::kParse, "attribute '{}' has another kind, expected {}", name, expected);
}

/// Returns the error of a handler that accepts no named sizes.
std::unexpected<Error> NeedsNumbers(std::string_view what, const std::vector<Dim>& dims) {
  return Fail(ErrorCode::kUnsupported, "{}, expected numbers instead of {}", what, PrintList(dims));
}

/// Returns the truth of a condition. Fails with kUnsupported if the truth depends on named sizes,
/// or if a size is unknown.
Result<bool> Decided(const SizeCondition& condition) {
  const Decision decision = Decide(condition, {});
  const bool is_known = condition.left.IsKnown() && condition.right.IsKnown();
  if (is_known && decision != Decision::kOpen) return decision == Decision::kTrue;
  return Fail(ErrorCode::kUnsupported, "the node depends on whether {}", Print(condition));
}

}  // namespace

bool NodeContext::HasOutput(size_t index) const {
  return index < node_.outputs.size() && !node_.outputs[index].empty();
}

Operand NodeContext::OptionalInput(size_t index) const {
  return index < inputs_.size() ? inputs_[index] : nullptr;
}

Result<Operand> NodeContext::Input(size_t index) const {
  Operand operand = OptionalInput(index);
  if (operand == nullptr) return Fail(ErrorCode::kParse, "input {} is missing", index);
  return operand;
}

Result<Operands> NodeContext::Inputs() const {
  if (inputs_.empty()) return Fail(ErrorCode::kParse, "has no inputs, expected at least one");
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == nullptr) return Fail(ErrorCode::kParse, "input {} is missing", i);
  }
  return inputs_;
}

Result<Array> NodeContext::ConstantInput(size_t index) const {
  TUNEC_ASSIGN(const Operand operand, Input(index));
  if (operand->sizes) return NeedsNumbers(Describe(operand), *operand->sizes);
  if (!operand->constant) {
    return Fail(ErrorCode::kUnsupported,
                "input {} ('{}') is computed at run time, expected a value known while importing",
                index, node_.inputs[index]);
  }
  return *operand->constant;
}

Result<std::vector<int64_t>> NodeContext::ConstantInts(size_t index) const {
  constexpr int64_t kMost = 1 << 20;  // enough for lists of axes, sizes and positions
  TUNEC_ASSIGN(const Array array, ConstantInput(index));
  if (!IsInteger(array.type()) || array.size() > kMost) {
    return Fail(ErrorCode::kParse, "input {} has {} elements of {}, expected a list of integers",
                index, array.size(), Name(array.type()));
  }
  return ToInts(array);
}

Result<std::vector<Dim>> NodeContext::Sizes(size_t index) const {
  TUNEC_ASSIGN(const Operand operand, Input(index));
  if (operand->sizes) return *operand->sizes;
  TUNEC_ASSIGN(const std::vector<int64_t> numbers, ConstantInts(index));
  std::vector<Dim> sizes;
  for (const int64_t number : numbers) sizes.push_back(FixedDim(number));
  return sizes;
}

Result<int64_t> NodeContext::ConstantInt(size_t index) const {
  TUNEC_ASSIGN(const auto values, ConstantInts(index));
  if (values.size() != 1) {
    return Fail(ErrorCode::kParse, "input {} has {} elements, expected one", index, values.size());
  }
  return values.front();
}

Result<double> NodeContext::ConstantFloat(size_t index) const {
  TUNEC_ASSIGN(const Array array, ConstantInput(index));
  if (array.size() != 1) {
    return Fail(ErrorCode::kParse, "input {} has {} elements, expected one", index, array.size());
  }
  return array.GetDouble(0);
}

std::string NodeContext::Describe(const Operand& operand) const {
  const auto at = static_cast<size_t>(std::ranges::find(inputs_, operand) - inputs_.begin());
  const std::string shape = operand->shape.empty() ? "a scalar" : ShapeText(operand->shape);
  if (at < inputs_.size() && at < node_.inputs.size()) {
    return fmt::format("input {} ('{}') is {}", at, node_.inputs[at], shape);
  }
  return fmt::format("a value computed from the inputs is {}", shape);
}

Result<Dim> NodeContext::DimOf(const Operand& operand, int64_t axis) const {
  const int64_t rank = operand->rank();
  if (axis < -rank || axis >= rank) {
    return Fail(ErrorCode::kInvalidArgument, "{}, expected rank {} or more", Describe(operand),
                axis < 0 ? -axis : axis + 1);
  }
  return operand->shape.list()[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
}

Result<int64_t> NodeContext::Extent(const Operand& operand, int64_t axis) const {
  TUNEC_ASSIGN(const Dim dim, DimOf(operand, axis));
  if (!dim.IsConstant()) return NeedsNumbers(Describe(operand), {dim});
  return dim.Value();
}

Result<std::vector<int64_t>> NodeContext::Shape(const Operand& operand) const {
  if (!operand->shape.IsFixed()) return NeedsNumbers(Describe(operand), operand->shape);
  return operand->shape.Fixed();
}

Result<std::vector<int64_t>> NodeContext::Numbers(const std::vector<Dim>& sizes) {
  const OperandShape shape(sizes);
  if (!shape.IsFixed()) return NeedsNumbers("the node has named sizes", sizes);
  return shape.Fixed();
}

Result<bool> NodeContext::AreEqual(const Dim& a, const Dim& b) {
  return Decided({SizeCondition::Kind::kEqual, a, b});
}

Result<bool> NodeContext::IsAtMost(const Dim& a, const Dim& b) {
  return Decided({SizeCondition::Kind::kAtMost, a, b});
}

Result<bool> NodeContext::HaveEqualShapes(const Operand& a, const Operand& b) {
  if (a->rank() != b->rank()) return false;
  for (size_t i = 0; i < a->shape.size(); ++i) {
    TUNEC_ASSIGN(const bool are_equal, AreEqual(a->shape.list()[i], b->shape.list()[i]));
    if (!are_equal) return false;
  }
  return true;
}

Status NodeContext::RequireRank(const Operand& operand, int64_t least, int64_t most) const {
  if (operand->rank() >= least && operand->rank() <= most) return {};
  return Fail(ErrorCode::kInvalidArgument, "{}, of rank {}, expected rank {}", Describe(operand),
              operand->rank(),
              least == most ? fmt::to_string(least) : fmt::format("{} to {}", least, most));
}

Result<int64_t> NodeContext::Int(std::string_view name, int64_t otherwise) const {
  return Get<int64_t>(node_, name, otherwise, "an integer");
}
Result<double> NodeContext::Float(std::string_view name, double otherwise) const {
  return Get<double>(node_, name, otherwise, "a float");
}
Result<std::string> NodeContext::String(std::string_view name, std::string otherwise) const {
  return Get<std::string>(node_, name, std::move(otherwise), "a string");
}
Result<std::string> NodeContext::Choice(std::string_view name,
                                        std::initializer_list<std::string> known) const {
  TUNEC_ASSIGN(std::string chosen, String(name, *known.begin()));
  if (std::ranges::find(known, chosen) != known.end()) return chosen;
  return Fail(ErrorCode::kParse, "{} is '{}', expected '{}'", name, chosen,
              fmt::join(known, "' or '"));
}
Result<std::vector<int64_t>> NodeContext::Ints(std::string_view name,
                                               std::vector<int64_t> otherwise) const {
  return Get<std::vector<int64_t>>(node_, name, std::move(otherwise), "integers");
}
Result<std::vector<std::string>> NodeContext::Strings(std::string_view name,
                                                      std::vector<std::string> otherwise) const {
  return Get<std::vector<std::string>>(node_, name, std::move(otherwise), "strings");
}
Result<std::vector<double>> NodeContext::Floats(std::string_view name) const {
  if (!HasAttribute(name)) return Fail(ErrorCode::kParse, "attribute '{}' is missing", name);
  return Get<std::vector<double>>(node_, name, {}, "floats");
}
Result<Array> NodeContext::Tensor(std::string_view name) const {
  if (!HasAttribute(name)) return Fail(ErrorCode::kParse, "attribute '{}' is missing", name);
  return Get<Array>(node_, name, Array(), "a tensor");
}

Result<int64_t> NodeContext::Axis(std::string_view name, int64_t otherwise, int64_t rank) const {
  TUNEC_ASSIGN(const int64_t axis, Int(name, otherwise));
  return NormalizeAxis(axis, rank);
}

Result<Operand> NodeContext::Emit(Op op, const Operands& inputs, Attributes attributes) const {
  return emitter_.Emit(op, inputs, std::move(attributes));
}

Operand NodeContext::Ints64(const std::vector<int64_t>& values) const {
  return Constant(IntArray(values));
}

Operand NodeContext::Sizes64(std::vector<Dim> values) const {
  const auto count = static_cast<int64_t>(values.size());
  return emitter_.AddSizes(std::move(values), DataType::kI64, {count});
}

Operand NodeContext::Scalar(double value, DataType type) const {
  Array array(type, {});
  array.SetDouble(0, value);
  return Constant(std::move(array));
}

Result<Operand> NodeContext::Full(const OperandShape& shape, const Array& value) const {
  return emitter_.Full(shape, value);
}

Result<Operand> NodeContext::Reshape(const Operand& x, const OperandShape& shape) const {
  if (x->shape == shape) return x;
  return Emit(Op::kReshape, {x}, {{"shape", SizesAttribute(shape)}});
}

Result<Operand> NodeContext::Transpose(const Operand& x, std::vector<int64_t> perm) const {
  if (perm == AllAxes(x->rank())) return x;
  return Emit(Op::kTranspose, {x}, {{"perm", std::move(perm)}});
}

Result<Operand> NodeContext::Expand(const Operand& x, const OperandShape& shape) const {
  if (x->shape == shape) return x;
  return Emit(Op::kExpand, {x}, {{"shape", SizesAttribute(shape)}});
}

Result<Operand> NodeContext::Cast(const Operand& x, DataType type) const {
  if (x->type == type) return x;
  return Emit(Op::kCast, {x}, {{"to", std::string(Name(type))}});
}

Result<DataType> ElementType(int64_t onnx_type) { return DataTypeOf(onnx_type); }

Result<int64_t> NormalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return Fail(ErrorCode::kInvalidArgument, "axis is {}, expected an axis of a tensor of rank {}",
                axis, rank);
  }
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> NormalizeAxes(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) {
    TUNEC_ASSIGN(axis, NormalizeAxis(axis, rank));
  }
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) {
    return Fail(ErrorCode::kInvalidArgument, "an axis is given twice");
  }
  return axes;
}

DataType CombinedType(std::initializer_list<DataType> types) {
  const bool has_double = std::ranges::find(types, DataType::kF64) != types.end();
  return has_double ? DataType::kF64 : DataType::kF32;
}

bool MayBeEqual(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  return std::ranges::equal(a, b, [](const Dim& left, const Dim& right) {
    return Decide({SizeCondition::Kind::kEqual, left, right}, {}) != Decision::kFalse;
  });
}

std::vector<int64_t> AllAxes(int64_t rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::vector<int64_t> ToInts(const Array& array) {
  std::vector<int64_t> values(static_cast<size_t>(array.size()));
  for (int64_t i = 0; i < array.size(); ++i) values[static_cast<size_t>(i)] = array.GetInt(i);
  return values;
}

Array IntArray(const std::vector<int64_t>& values) {
  Array array(DataType::kI64, {static_cast<int64_t>(values.size())});
  if (!values.empty()) {
    std::memcpy(array.mutable_data(), values.data(), values.size() * sizeof(int64_t));
  }
  return array;
}

int64_t Product(const std::vector<int64_t>& values, size_t begin, size_t end) {
  const size_t last = std::min(end, values.size()), first = std::min(begin, last);
  return ElementCount(std::span(values).subspan(first, last - first));
}

}  // namespace tunec::onnx_import
