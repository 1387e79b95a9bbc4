#include "graph/onnx/operand.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "graph/onnx/fold_sizes.h"
#include "graph/passes/index_checks.h"
#include "ir/size/prove_sizes.h"
#include "ir/size/size_text.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

/// Largest number of elements of each operand and of the result of a node that is evaluated while
/// importing, unless it is a reshape. Shape arithmetic is smaller; graph passes fold weights.
constexpr int64_t kMostFoldedElements = 65536;
constexpr int64_t kMostEmittedNodes = 1'000'000;
/// Largest number of operands of a concatenation whose operands are remembered.
constexpr size_t kMostJoined = 16;
/// Greatest factor and constant of a size that is data. A range has doubles, which are exact up to
/// 2^53.
constexpr int64_t kMostFactor = 1 << 20;
/// Largest number of elements of a constant that is written in the graph's text. Bytes of larger
/// constants are in the weights file.
constexpr int64_t kMostElementsInText = 16;

bool IsSmallConstant(const Operand& operand) {
  return operand == nullptr ||
         (operand->constant && operand->constant->size() <= kMostFoldedElements);
}

/// Fails if an integer division may trap in the processor. Requires constant operands.
Status CheckDivision(Op op, const std::vector<Operand>& inputs) {
  if ((op != Op::kDiv && op != Op::kMod) || !IsInteger(inputs[1]->type)) return {};
  const Array& divisor = *inputs[1]->constant;
  for (int64_t i = 0; i < divisor.size(); ++i) {
    const int64_t value = divisor.GetInt(i);
    if (value == 0) return Fail(ErrorCode::kInvalidArgument, "integer division by zero");
    if (value != -1) continue;
    const Array& dividend = *inputs[0]->constant;
    for (int64_t j = 0; j < dividend.size(); ++j) {
      if (dividend.GetInt(j) == std::numeric_limits<int64_t>::min()) {
        return Fail(ErrorCode::kInvalidArgument, "integer division overflows");
      }
    }
  }
  return {};
}

/// Checks constant indices of an axis with a named extent. Inference assumes one element, and no
/// condition says that there are more.
Status CheckIndicesOfNamed(const Array& indices, const Dim& extent) {
  for (int64_t i = 0; i < indices.size(); ++i) {
    const int64_t index = indices.GetInt(i);
    const Dim least = index < 0 ? Dim(0) - FixedDim(index) : FixedDim(index) + 1;
    if (index == 0 || index == -1 || ProveAtMost(least, extent, {})) continue;
    return Fail(ErrorCode::kUnsupported, "index {} of an axis of {} elements", index,
                Print(extent));
  }
  return {};
}

/// Checks the constant indices of a gather. Type inference reports all other errors.
Status CheckIndexOperand(Op op, const std::vector<Operand>& inputs, const Attributes& attributes) {
  if ((op != Op::kGather && op != Op::kGatherElements) || inputs.size() != 2) return {};
  const auto& indices = inputs[1]->constant;
  const int64_t axis = std::get<int64_t>(attributes.at("axis"));
  if (!indices || axis < 0 || axis >= inputs[0]->rank()) return {};
  const Dim& extent = inputs[0]->shape.list()[static_cast<size_t>(axis)];
  if (extent == Dim(0)) return {};
  if (!extent.IsConstant()) return CheckIndicesOfNamed(*indices, extent);
  return CheckIndices(*indices, extent.Value());
}

/// Returns what is known of an operand as a function of its positions.
CountingOperand CountingOfOperand(const Operand& operand) {
  CountingOperand result;
  if (operand == nullptr) return result;
  result.shape = &operand->shape;
  if (operand->counting) result.counting = &*operand->counting;
  if (operand->sizes && operand->sizes->size() == 1) result.value = operand->sizes->front();
  const bool is_number = operand->constant && operand->constant->size() == 1;
  if (is_number && IsInteger(operand->type)) result.value = FixedDim(operand->constant->GetInt(0));
  return result;
}

/// Returns the function of a constant with the elements 0, 1, 2, and so on.
std::optional<Counting> CountingOfConstant(const Operand& operand) {
  if (!operand->constant || !IsInteger(operand->type)) return std::nullopt;
  for (int64_t i = 0; i < operand->constant->size(); ++i)
    if (operand->constant->GetInt(i) != i) return std::nullopt;
  Counting counting{0, std::vector<Dim>(operand->shape.size(), 0)};
  Dim stride = 1;
  for (size_t i = operand->shape.size(); i-- > 0;) {
    counting.steps[i] = stride;
    stride = stride * operand->shape.list()[i];
  }
  return counting;
}

}  // namespace

Result<Operand> Emitter::AddInput(const std::string& name, DataType type, std::vector<Dim> shape) {
  auto operand = std::make_shared<OperandState>();
  operand->name = name;
  operand->type = type;
  TUNEC_ASSIGN(operand->value, builder_.AddInput(name, {type, shape}));
  operand->shape = std::move(shape);
  return operand;
}

Operand Emitter::AddConstant(Array array, std::string name) {
  auto operand = std::make_shared<OperandState>();
  operand->name = std::move(name);
  operand->type = array.type();
  operand->shape = array.shape();
  operand->constant = std::move(array);
  return operand;
}

Operand Emitter::AddSizes(std::vector<Dim> sizes, DataType type,
                          const std::vector<int64_t>& shape) {
  if (std::ranges::all_of(sizes, &Dim::IsConstant)) {
    Array array(type, shape);
    for (size_t i = 0; i < sizes.size(); ++i)
      array.SetInt(static_cast<int64_t>(i), sizes[i].Value());
    return AddConstant(std::move(array));
  }
  auto operand = std::make_shared<OperandState>();
  operand->type = type;
  operand->shape = shape;
  operand->sizes = std::move(sizes);
  return operand;
}

void Emitter::NameValue(const Operand& operand, const std::string& name) {
  if (!operand->name.empty() || operand->poisoned) return;  // the value keeps its older name
  operand->name = name;
  if (operand->value.valid()) builder_.RenameValue(operand->value, name);
}

Result<ValueId> Emitter::Materialize(const Operand& operand) {
  if (operand == nullptr || operand->value.valid()) {
    return operand == nullptr ? ValueId{} : operand->value;
  }
  if (operand->sizes) {
    TUNEC_ASSIGN(operand->value, AddSizeNodes(*operand));
    if (!operand->name.empty()) builder_.RenameValue(operand->value, operand->name);
    return operand->value;
  }
  const std::string name = operand->name.empty() ? "constant" : operand->name;
  const bool is_weight = operand->constant->size() > kMostElementsInText;
  const std::string weight_name = is_weight ? weight_names_.Make(name) : "";
  operand->value = builder_.AddConstant(name, *operand->constant, weight_name);
  return operand->value;
}

Result<ValueId> Emitter::AddSizeNodes(const OperandState& operand) {
  const std::string type(Name(operand.type));
  std::vector<ValueId> parts;
  emitted_nodes_ += static_cast<int64_t>(operand.sizes->size());
  for (const Dim& size : *operand.sizes) {
    if (!IsModest(size, kMostFactor))
      return Fail(ErrorCode::kUnsupported, "the size {} is data, expected smaller numbers",
                  Print(size));
    // A range with one element is the size as data.
    TUNEC_ASSIGN(parts.emplace_back(), builder_.Add(Op::kRange, {},
                                                    {{"start", NumberAttribute(size)},
                                                     {"limit", NumberAttribute(size + 1)},
                                                     {"delta", 1.0},
                                                     {"to", type}}));
  }
  ValueId all = parts.front();
  if (parts.size() > 1) {
    TUNEC_ASSIGN(all, builder_.Add(Op::kConcat, std::move(parts), {{"axis", int64_t{0}}}));
  }
  if (operand.rank() == 1) return all;
  return builder_.Add(Op::kReshape, {all}, {{"shape", operand.shape.Fixed()}});
}

Result<std::optional<Operand>> Emitter::Fold(Op op, const std::vector<Operand>& inputs,
                                             const Attributes& attributes) {
  if (op == Op::kReshape && inputs[0]->constant) {  // shares the bytes, whatever the size
    const auto* shape = std::get_if<std::vector<int64_t>>(&attributes.at("shape"));
    if (shape && IsShape(*shape) && ElementCount(*shape) == inputs[0]->constant->size()) {
      return AddConstant(inputs[0]->constant->Reshaped(*shape));
    }
  }
  const bool has_named_sizes = std::ranges::any_of(
      attributes, [](const auto& entry) { return !SizesOf(entry.second).empty(); });
  if (has_named_sizes) return std::nullopt;
  const auto has_sizes = [](const Operand& input) { return input && input->sizes; };
  if (std::ranges::any_of(inputs, has_sizes)) {
    TUNEC_ASSIGN(auto folded, FoldSizes(op, inputs, attributes));
    if (!folded) return std::nullopt;
    return AddSizes(std::move(folded->elements), folded->type, folded->shape);
  }
  if (!std::ranges::all_of(inputs, IsSmallConstant)) return std::nullopt;
  TUNEC_RETURN_IF_ERROR(CheckDivision(op, inputs));
  std::vector<const Array*> arrays;
  for (const Operand& input : inputs)
    arrays.push_back(input == nullptr ? nullptr : &*input->constant);
  TUNEC_ASSIGN(auto result, EvaluateNode(op, arrays, attributes, kMostFoldedElements));
  if (!result) return std::nullopt;
  return AddConstant(*std::move(result));
}

// The result may be the data itself in another shape: the padding mask of some exporters gathers
// `row * length + column` from the flattened mask.
Result<std::optional<Operand>> Emitter::FoldGather(Op op, const std::vector<Operand>& inputs,
                                                   const Attributes& attributes) {
  if (op != Op::kGather || inputs[0]->constant || inputs[0]->sizes) return std::nullopt;
  const OperandShape& from = inputs[0]->shape;
  const OperandShape& indices = inputs[1]->shape;
  const std::optional<Counting> counting =
      inputs[1]->counting ? inputs[1]->counting : CountingOfConstant(inputs[1]);
  const int64_t axis = std::get<int64_t>(attributes.at("axis"));
  if (!counting || axis < 0 || axis >= inputs[0]->rank()) return std::nullopt;
  const auto at = static_cast<size_t>(axis);
  if (from.list()[at] != indices.Elements() || !CountsInOrder(*counting, indices))
    return std::nullopt;
  std::vector<Dim> shape = from.Part(0, at);
  const std::vector<Dim> behind = from.Part(at + 1);
  shape.insert(shape.end(), indices.list().begin(), indices.list().end());
  shape.insert(shape.end(), behind.begin(), behind.end());
  if (OperandShape(shape) == from) return inputs[0];
  return Emit(Op::kReshape, {inputs[0]}, {{"shape", SizesAttribute(std::move(shape))}});
}

std::optional<Operand> Emitter::SelectedPart(Op op, const std::vector<Operand>& inputs,
                                             const Attributes& attributes) {
  if (op != Op::kSlice || inputs[0]->joined.empty()) return std::nullopt;
  const std::vector<Dim> starts = ReadSizes(attributes.at("starts"));
  const std::vector<Dim> ends = ReadSizes(attributes.at("ends"));
  const auto steps = attributes.find("steps");
  if (steps != attributes.end()) {
    const auto& numbers = std::get<std::vector<int64_t>>(steps->second);
    if (std::ranges::any_of(numbers, [](int64_t step) { return step != 1; })) return std::nullopt;
  }
  const auto axis = static_cast<size_t>(inputs[0]->joined_axis);
  const std::vector<Dim>& whole = inputs[0]->shape;
  if (starts.size() != whole.size() || ends.size() != whole.size()) return std::nullopt;
  for (size_t a = 0; a < whole.size(); ++a) {
    if (a != axis && (starts[a] != Dim(0) || ends[a] != whole[a])) return std::nullopt;
  }
  Dim begin = 0;
  for (const Operand& part : inputs[0]->joined) {
    const Dim end = begin + part->shape.list()[axis];
    if (starts[axis] == begin && ends[axis] == end) return part;
    begin = end;
  }
  return std::nullopt;
}

Result<Operand> Emitter::Emit(Op op, const std::vector<Operand>& inputs, Attributes attributes) {
  TUNEC_RETURN_IF_ERROR(CheckIndexOperand(op, inputs, attributes));
  TUNEC_ASSIGN(const auto folded, Fold(op, inputs, attributes));
  if (folded) return *folded;
  TUNEC_ASSIGN(const auto in_order, FoldGather(op, inputs, attributes));
  if (in_order) return *in_order;
  if (const std::optional<Operand> part = SelectedPart(op, inputs, attributes)) return *part;
  // Limits nodes, because a recurrent layer of a few bytes can expand to thousands of nodes.
  if (++emitted_nodes_ > kMostEmittedNodes) {
    return Fail(ErrorCode::kInvalidArgument, "the graph has more than {} nodes", kMostEmittedNodes);
  }
  std::vector<ValueId> values;
  for (const Operand& input : inputs) {
    TUNEC_ASSIGN(values.emplace_back(), Materialize(input));
  }
  auto operand = std::make_shared<OperandState>();
  const Attributes given = attributes;
  TUNEC_ASSIGN(operand->value,
               builder_.Add(op, std::move(values), std::move(attributes), node_name_));
  const ValueType& type = builder_.TypeOf(operand->value);
  operand->type = type.type;
  operand->shape = type.dims;
  if (IsInteger(operand->type)) {
    std::vector<CountingOperand> counted;
    for (const Operand& input : inputs) counted.push_back(CountingOfOperand(input));
    operand->counting = CountingOf(op, counted, given, operand->shape);
  }
  const auto is_joined = [](const Operand& input) { return !input->joined.empty(); };
  if (IsInteger(operand->type) && op == Op::kConcat && inputs.size() <= kMostJoined &&
      std::ranges::none_of(inputs, is_joined)) {
    operand->joined = inputs;
    operand->joined_axis = std::get<int64_t>(given.at("axis"));
  }
  if (operand->shape.IsFixed() && !IsShape(operand->shape.Fixed())) {
    return Fail(ErrorCode::kInvalidArgument, "the result has too many elements");
  }
  return operand;
}

Status Emitter::AddOutput(const Operand& operand, const std::string& name) {
  TUNEC_ASSIGN(const ValueId value, Materialize(operand));
  builder_.AddOutput(value, name);
  return {};
}

Result<Operand> Emitter::Full(const OperandShape& shape, const Array& value) {
  if (shape.IsFixed() && !IsShape(shape.Fixed())) {
    return Fail(ErrorCode::kInvalidArgument, "shape [{}] is negative or has too many elements",
                PrintList(shape));
  }
  return Emit(Op::kExpand, {AddConstant(value.Reshaped({}))}, {{"shape", SizesAttribute(shape)}});
}

}  // namespace tunec::onnx_import
