#include "graph/onnx/operand.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/ranges.h>

#include "graph/ops/op_table.h"
#include "graph/passes/index_checks.h"
#include "graph/reference.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

/// Largest number of elements of each operand and of the result of a node that is evaluated while
/// importing, unless it is a reshape. Shape arithmetic is smaller; graph passes fold weights.
constexpr int64_t kMostFoldedElements = 65536;
constexpr int64_t kMostEmittedNodes = 1'000'000;
/// Largest number of elements of a constant that is written in the graph's text. Bytes of larger
/// constants are in the weights file.
constexpr int64_t kMostElementsInText = 16;

bool IsSmallConstant(const Operand& operand) {
  return operand == nullptr ||
         (operand->constant && operand->constant->size() <= kMostFoldedElements);
}

std::vector<Dim> DimsOf(const std::vector<int64_t>& shape) {
  return std::vector<Dim>(shape.begin(), shape.end());
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

/// Checks the constant indices of a gather. Type inference reports all other errors.
Status CheckIndexOperand(Op op, const std::vector<Operand>& inputs, const Attributes& attributes) {
  if ((op != Op::kGather && op != Op::kGatherElements) || inputs.size() != 2) return {};
  const auto& indices = inputs[1]->constant;
  const std::vector<int64_t>& shape = inputs[0]->shape;
  const int64_t axis = std::get<int64_t>(attributes.at("axis"));
  if (!indices || axis < 0 || axis >= inputs[0]->rank()) return {};
  const int64_t extent = shape[static_cast<size_t>(axis)];
  return extent == 0 ? Status() : CheckIndices(*indices, extent);
}

}  // namespace

Result<Operand> Emitter::AddInput(const std::string& name, DataType type,
                                  std::vector<int64_t> shape) {
  auto operand = std::make_shared<OperandState>();
  operand->name = name;
  operand->type = type;
  TUNEC_ASSIGN(operand->value, builder_.AddInput(name, {type, DimsOf(shape)}));
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

void Emitter::NameValue(const Operand& operand, const std::string& name) {
  if (!operand->name.empty() || operand->poisoned) return;  // the value keeps its older name
  operand->name = name;
  if (operand->value.valid()) builder_.RenameValue(operand->value, name);
}

ValueId Emitter::Materialize(const Operand& operand) {
  if (operand == nullptr || operand->value.valid()) {
    return operand == nullptr ? ValueId{} : operand->value;
  }
  const std::string name = operand->name.empty() ? "constant" : operand->name;
  const bool is_weight = operand->constant->size() > kMostElementsInText;
  const std::string weight_name = is_weight ? weight_names_.Make(name) : "";
  operand->value = builder_.AddConstant(name, *operand->constant, weight_name);
  return operand->value;
}

Result<std::optional<Operand>> Emitter::Fold(Op op, const std::vector<Operand>& inputs,
                                             const Attributes& attributes) {
  if (op == Op::kReshape && inputs[0]->constant) {  // shares the bytes, whatever the size
    const auto& shape = std::get<std::vector<int64_t>>(attributes.at("shape"));
    if (IsShape(shape) && ElementCount(shape) == inputs[0]->constant->size()) {
      return AddConstant(inputs[0]->constant->Reshaped(shape));
    }
  }
  if (!std::ranges::all_of(inputs, IsSmallConstant)) return std::nullopt;
  TUNEC_RETURN_IF_ERROR(CheckDivision(op, inputs));
  Node node;
  node.op = op;
  node.attributes = attributes;
  std::vector<ValueType> types;
  std::vector<Array> arrays;
  for (const Operand& input : inputs) {
    arrays.push_back(input == nullptr ? Array(DataType::kU8, {}) : *input->constant);
    types.push_back({arrays.back().type(), DimsOf(arrays.back().shape())});
  }
  std::vector<const ValueType*> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(inputs[i] == nullptr ? nullptr : &types[i]);
  }
  TUNEC_ASSIGN(const auto result_types, Infer(op, operands, node.attributes));
  if (ElementCount(result_types.front().Shape()) > kMostFoldedElements) return std::nullopt;
  TUNEC_ASSIGN(auto results, RunNode(node, arrays, result_types, Precision::kNative));
  return AddConstant(std::move(results.front()));
}

Result<Operand> Emitter::Emit(Op op, const std::vector<Operand>& inputs, Attributes attributes) {
  TUNEC_RETURN_IF_ERROR(CheckIndexOperand(op, inputs, attributes));
  TUNEC_ASSIGN(const auto folded, Fold(op, inputs, attributes));
  if (folded) return *folded;
  // Limits nodes, because a recurrent layer of a few bytes can expand to thousands of nodes.
  if (++emitted_nodes_ > kMostEmittedNodes) {
    return Fail(ErrorCode::kInvalidArgument, "the graph has more than {} nodes", kMostEmittedNodes);
  }
  std::vector<ValueId> values;
  for (const Operand& input : inputs) values.push_back(Materialize(input));
  auto operand = std::make_shared<OperandState>();
  TUNEC_ASSIGN(operand->value,
               builder_.Add(op, std::move(values), std::move(attributes), node_name_));
  const ValueType& type = builder_.TypeOf(operand->value);
  operand->type = type.type;
  operand->shape = type.Shape();
  if (!IsShape(operand->shape.list())) {
    return Fail(ErrorCode::kInvalidArgument, "the result has too many elements");
  }
  return operand;
}

void Emitter::AddOutput(const Operand& operand, const std::string& name) {
  builder_.AddOutput(Materialize(operand), name);
}

Result<Operand> Emitter::Full(const std::vector<int64_t>& shape, const Array& value) {
  if (!IsShape(shape)) {
    return Fail(ErrorCode::kInvalidArgument, "shape [{}] is negative or has too many elements",
                fmt::join(shape, ","));
  }
  return Emit(Op::kExpand, {AddConstant(value.Reshaped({}))}, {{"shape", shape}});
}

}  // namespace tunec::onnx_import
