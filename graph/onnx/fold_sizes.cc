#include "graph/onnx/fold_sizes.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "graph/ops/op_table.h"
#include "graph/reference.h"
#include "ir/size/prove_sizes.h"
#include "ir/size/size_condition.h"

namespace tunec::onnx_import {
namespace {

/// Largest number of elements of an operand or a result. Shapes and lists of axes are smaller.
constexpr int64_t kMostElements = 256;

using Kind = SizeCondition::Kind;

bool HasIntegers(const Operand& operand) {
  return IsInteger(operand->type) || operand->type == DataType::kBool;
}

/// Returns the elements of a constant of integers, or of sizes. Returns nullopt for other operands.
std::optional<std::vector<Dim>> ElementsOf(const Operand& operand) {
  if (operand == nullptr) return std::nullopt;
  if (operand->sizes) return operand->sizes;
  if (!operand->constant || !HasIntegers(operand) || operand->constant->size() > kMostElements)
    return std::nullopt;
  constexpr int64_t kMost = int64_t{1} << 60;  // beyond it, a size is unknown
  std::vector<Dim> elements;
  for (int64_t i = 0; i < operand->constant->size(); ++i) {
    const int64_t number = operand->constant->GetInt(i);
    if (number <= -kMost || number >= kMost) return std::nullopt;
    elements.emplace_back(number);
  }
  return elements;
}

/// Returns the number of leading operands whose elements the operator moves; -1: the operator
/// computes new elements. The operands after them select elements.
int MovedOperands(Op op, size_t operands) {
  switch (op) {
    case Op::kConcat:
      return static_cast<int>(operands);
    case Op::kReshape:
    case Op::kTranspose:
    case Op::kExpand:
    case Op::kSlice:
    case Op::kTile:
    case Op::kGather:
    case Op::kGatherElements:
    case Op::kIdentity:
      return 1;
    default:
      return -1;
  }
}

/// Runs the node on arrays. Returns nullopt for a large result.
Result<std::optional<Array>> RunOn(Op op, const std::vector<Array>& arrays,
                                   const Attributes& attributes) {
  std::vector<const Array*> inputs;
  for (const Array& array : arrays) inputs.push_back(&array);
  return EvaluateNode(op, inputs, attributes, kMostElements);
}

/// Returns numbers 0, 1, ... in the operand's shape. `first` is the number of the first element.
Array NumbersOf(const Operand& operand, int64_t first) {
  Array numbers(DataType::kI64, operand->shape.Fixed());
  for (int64_t i = 0; i < numbers.size(); ++i) numbers.SetInt(i, first + i);
  return numbers;
}

/// Moves the elements of the first operands as the node does: runs the node on the numbers of the
/// elements.
Result<std::optional<FoldedSizes>> Move(Op op, const std::vector<Operand>& inputs, size_t moved,
                                        const Attributes& attributes) {
  std::vector<Dim> elements;
  std::vector<Array> arrays;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i >= moved) {
      if (!inputs[i] || !inputs[i]->constant) return std::nullopt;
      arrays.push_back(*inputs[i]->constant);
      continue;
    }
    const std::optional<std::vector<Dim>> own = ElementsOf(inputs[i]);
    if (!own) return std::nullopt;
    arrays.push_back(NumbersOf(inputs[i], static_cast<int64_t>(elements.size())));
    elements.insert(elements.end(), own->begin(), own->end());
  }
  TUNEC_ASSIGN(const std::optional<Array> places, RunOn(op, arrays, attributes));
  if (!places) return std::nullopt;
  FoldedSizes result{{}, inputs[0]->type, places->shape()};
  for (int64_t i = 0; i < places->size(); ++i)
    result.elements.push_back(elements[static_cast<size_t>(places->GetInt(i))]);
  return result;
}

using Rule = std::function<std::optional<Dim>(const Dim&, const Dim&)>;

bool IsNatural(const Dim& size) { return ProveAtMost(0, size, {}); }

std::optional<Dim> Decided(const SizeCondition& condition, bool otherwise = false) {
  const Decision decision = Decide(condition, {});
  if (decision == Decision::kOpen) return std::nullopt;
  return Dim((decision == Decision::kTrue) != otherwise ? 1 : 0);
}

/// Returns the rule of an elementwise operator with two operands, or null. A rule returns nullopt
/// if the result is not decided for all sizes.
Rule RuleOf(Op op, const Attributes& attributes) {
  switch (op) {
    case Op::kAdd:
      return [](const Dim& a, const Dim& b) { return a + b; };
    case Op::kSub:
      return [](const Dim& a, const Dim& b) { return a - b; };
    case Op::kMul:
      return [](const Dim& a, const Dim& b) { return a * b; };
    case Op::kMax:
      return [](const Dim& a, const Dim& b) { return Dim::Max(a, b); };
    case Op::kMin:
      return [](const Dim& a, const Dim& b) { return Dim::Min(a, b); };
    case Op::kDiv:
      // The quotient of integers is rounded towards zero, so it must not be negative.
      return [](const Dim& a, const Dim& b) -> std::optional<Dim> {
        if (!IsNatural(a) || !ProveAtMost(1, b, {})) return std::nullopt;
        return Dim::FloorDiv(a, b);
      };
    case Op::kMod: {
      const auto fmod = attributes.find("fmod");
      const bool truncates = fmod != attributes.end() && std::get<int64_t>(fmod->second) != 0;
      return [truncates](const Dim& a, const Dim& b) -> std::optional<Dim> {
        if (!ProveAtMost(1, b, {}) || (truncates && !IsNatural(a))) return std::nullopt;
        return Dim::Mod(a, b);
      };
    }
    case Op::kEq:
      return [](const Dim& a, const Dim& b) { return Decided({Kind::kEqual, a, b}); };
    case Op::kNe:
      return [](const Dim& a, const Dim& b) { return Decided({Kind::kEqual, a, b}, true); };
    case Op::kLe:
      return [](const Dim& a, const Dim& b) { return Decided({Kind::kAtMost, a, b}); };
    case Op::kGt:
      return [](const Dim& a, const Dim& b) { return Decided({Kind::kAtMost, a, b}, true); };
    case Op::kGe:
      return [](const Dim& a, const Dim& b) { return Decided({Kind::kAtMost, b, a}); };
    case Op::kLt:
      return [](const Dim& a, const Dim& b) { return Decided({Kind::kAtMost, b, a}, true); };
    default:
      return nullptr;
  }
}

bool IsComparison(Op op) {
  return op == Op::kEq || op == Op::kNe || op == Op::kLe || op == Op::kGt || op == Op::kGe ||
         op == Op::kLt;
}

/// Returns the numbers of each operand's elements, broadcast against each other, or an empty list
/// for a large result.
Result<std::vector<Array>> BroadcastNumbers(const std::vector<Operand>& inputs) {
  std::vector<Array> numbers;
  Array sum(DataType::kI64, {});
  for (const Operand& input : inputs) {
    numbers.push_back(NumbersOf(input, 0));
    TUNEC_ASSIGN(const std::optional<Array> both, RunOn(Op::kAdd, {sum, numbers.back()}, {}));
    if (!both) return std::vector<Array>{};
    sum = *both;
  }
  for (Array& each : numbers) {
    TUNEC_ASSIGN(const std::optional<Array> all,
                 RunOn(Op::kExpand, {each}, {{"shape", sum.shape()}}));
    each = *all;
  }
  return numbers;
}

Result<std::optional<FoldedSizes>> Compute(Op op, const std::vector<Operand>& inputs,
                                           const Rule& rule) {
  const std::optional<std::vector<Dim>> a = ElementsOf(inputs[0]), b = ElementsOf(inputs[1]);
  if (!a || !b) return std::nullopt;
  TUNEC_ASSIGN(const std::vector<Array> at, BroadcastNumbers(inputs));
  if (at.empty()) return std::nullopt;
  FoldedSizes result{{}, IsComparison(op) ? DataType::kBool : inputs[0]->type, at[0].shape()};
  for (int64_t i = 0; i < at[0].size(); ++i) {
    const std::optional<Dim> value = rule((*a)[static_cast<size_t>(at[0].GetInt(i))],
                                          (*b)[static_cast<size_t>(at[1].GetInt(i))]);
    if (!value || !value->IsKnown()) return std::nullopt;
    result.elements.push_back(*value);
  }
  return result;
}

/// Evaluates `where` with a constant condition.
Result<std::optional<FoldedSizes>> Choose(const std::vector<Operand>& inputs) {
  const std::optional<std::vector<Dim>> then = ElementsOf(inputs[1]),
                                        otherwise = ElementsOf(inputs[2]);
  if (!then || !otherwise || !inputs[0] || !inputs[0]->constant ||
      inputs[0]->constant->size() > kMostElements)
    return std::nullopt;
  TUNEC_ASSIGN(const std::vector<Array> at, BroadcastNumbers(inputs));
  if (at.empty()) return std::nullopt;
  FoldedSizes result{{}, inputs[1]->type, at[0].shape()};
  for (int64_t i = 0; i < at[0].size(); ++i) {
    const bool is_first = inputs[0]->constant->GetInt(at[0].GetInt(i)) != 0;
    const std::vector<Dim>& chosen = is_first ? *then : *otherwise;
    result.elements.push_back(chosen[static_cast<size_t>(at[is_first ? 1 : 2].GetInt(i))]);
  }
  return result;
}

/// Evaluates a reduction of all elements to one.
Result<std::optional<FoldedSizes>> Reduce(Op op, const Operand& input,
                                          const Attributes& attributes) {
  const std::optional<std::vector<Dim>> elements = ElementsOf(input);
  if (!elements || elements->empty()) return std::nullopt;
  const Op pair = op == Op::kReduceProd  ? Op::kMul
                  : op == Op::kReduceSum ? Op::kAdd
                  : op == Op::kReduceMax ? Op::kMax
                                         : Op::kMin;
  TUNEC_ASSIGN(const std::optional<Array> one, RunOn(op, {NumbersOf(input, 0)}, attributes));
  if (!one || one->size() != 1) return std::nullopt;
  Dim result = elements->front();
  for (size_t i = 1; i < elements->size(); ++i) result = *RuleOf(pair, {})(result, (*elements)[i]);
  if (!result.IsKnown()) return std::nullopt;
  return FoldedSizes{{result}, input->type, one->shape()};
}

/// Returns the operand's elements as another type of integers.
std::optional<FoldedSizes> Convert(const Operand& input, const Attributes& attributes) {
  const std::optional<DataType> type = ParseDataType(std::get<std::string>(attributes.at("to")));
  const std::optional<std::vector<Dim>> elements = ElementsOf(input);
  if (!type || !elements || (*type != DataType::kI64 && *type != DataType::kI32))
    return std::nullopt;
  return FoldedSizes{*elements, *type, input->shape.Fixed()};
}

/// Returns the result like FoldSizes, before the checks of its numbers.
Result<std::optional<FoldedSizes>> Evaluate(Op op, const std::vector<Operand>& inputs,
                                            const Attributes& attributes) {
  if (const int moved = MovedOperands(op, inputs.size()); moved > 0)
    return Move(op, inputs, static_cast<size_t>(moved), attributes);
  if (const Rule rule = RuleOf(op, attributes)) return Compute(op, inputs, rule);
  switch (op) {
    case Op::kWhere:
      return Choose(inputs);
    case Op::kReduceProd:
    case Op::kReduceSum:
    case Op::kReduceMax:
    case Op::kReduceMin:
      return Reduce(op, inputs[0], attributes);
    case Op::kCast:
      return Convert(inputs[0], attributes);
    case Op::kNeg: {
      std::optional<std::vector<Dim>> elements = ElementsOf(inputs[0]);
      if (!elements) return std::nullopt;
      for (Dim& element : *elements) element = -element;
      return FoldedSizes{*std::move(elements), inputs[0]->type, inputs[0]->shape.Fixed()};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<std::optional<Array>> EvaluateNode(Op op, const std::vector<const Array*>& inputs,
                                          const Attributes& attributes, int64_t most_elements) {
  Node node;
  node.op = op;
  node.attributes = attributes;
  std::vector<ValueType> types;
  std::vector<Array> arrays;
  for (const Array* input : inputs) {
    arrays.push_back(input == nullptr ? Array(DataType::kU8, {}) : *input);
    const std::vector<int64_t>& shape = arrays.back().shape();
    types.push_back({arrays.back().type(), {shape.begin(), shape.end()}});
  }
  std::vector<const ValueType*> operands;
  for (size_t i = 0; i < inputs.size(); ++i)
    operands.push_back(inputs[i] == nullptr ? nullptr : &types[i]);
  TUNEC_ASSIGN(const auto result_types, Infer(op, operands, node.attributes));
  if (ElementCount(result_types.front().Shape()) > most_elements) return std::nullopt;
  TUNEC_ASSIGN(auto results, RunNode(node, arrays, result_types, Precision::kNative));
  return std::move(results.front());
}

bool IsModest(const Dim& size, int64_t most) {
  if (!size.IsKnown() || std::abs(size.constant()) > most) return false;
  return std::ranges::all_of(
      size.terms(), [most](const SizeTerm& term) { return std::abs(term.coefficient) <= most; });
}

bool IsPositive(const Dim& size) {
  if (!size.IsKnown()) return false;
  SizeRanges ranges;
  for (const std::string& name : size.Names()) ranges[name] = {1, kUnbounded};
  return ProveAtMost(1, size, ranges);
}

Result<std::optional<FoldedSizes>> FoldSizes(Op op, const std::vector<Operand>& inputs,
                                             const Attributes& attributes) {
  TUNEC_ASSIGN(auto folded, Evaluate(op, inputs, attributes));
  if (!folded) return folded;
  // Arithmetic of the model wraps, and arithmetic of sizes does not.
  const int64_t most = SizeOf(folded->type) < 8 ? int64_t{1} << 20 : int64_t{1} << 40;
  const auto is_exact = [most](const Dim& element) {
    return element.IsConstant() || IsModest(element, most);
  };
  if (!std::ranges::all_of(folded->elements, is_exact)) return std::nullopt;
  return folded;
}
}  // namespace tunec::onnx_import
