#include "graph/onnx/counting.h"

#include <algorithm>

#include "ir/size/prove_sizes.h"

namespace tunec::onnx_import {
namespace {

/// Returns the operand's function in the axes of the result, which are aligned at the last one. An
/// axis of extent 1 is repeated and has the step 0. Returns nullopt for an operand without a known
/// function, and if an axis may be repeated or not.
std::optional<Counting> Broadcast(const CountingOperand& operand, const OperandShape& result) {
  const size_t rank = result.size();
  if (operand.value) return Counting{*operand.value, std::vector<Dim>(rank, 0)};
  if (operand.counting == nullptr || operand.shape->size() > rank) return std::nullopt;
  const size_t added = rank - operand.shape->size();
  for (size_t i = 0; i < operand.shape->size(); ++i) {
    const Dim& own = operand.shape->list()[i];
    if (own != Dim(1) && own != result.list()[added + i]) return std::nullopt;
  }
  Counting aligned = *operand.counting;
  aligned.steps.insert(aligned.steps.begin(), added, 0);
  return aligned;
}

std::optional<Counting> Combined(Op op, const Counting& a, const Counting& b) {
  const auto is_number = [](const Counting& each) {
    return std::ranges::all_of(each.steps, [](const Dim& step) { return step == Dim(0); });
  };
  Counting result = a;
  if (op == Op::kMul) {
    if (!is_number(a) && !is_number(b)) return std::nullopt;
    const Counting& scaled = is_number(b) ? a : b;
    const Dim& factor = is_number(b) ? b.first : a.first;
    result.first = scaled.first * factor;
    for (size_t i = 0; i < a.steps.size(); ++i) result.steps[i] = scaled.steps[i] * factor;
    return result;
  }
  const int64_t sign = op == Op::kAdd ? 1 : -1;
  result.first = a.first + b.first * sign;
  for (size_t i = 0; i < a.steps.size(); ++i) result.steps[i] = a.steps[i] + b.steps[i] * sign;
  return result;
}

/// Returns the function of a reshape that only adds or removes axes of extent 1.
std::optional<Counting> Reshaped(const CountingOperand& operand, const OperandShape& shape) {
  if (operand.counting == nullptr) return std::nullopt;
  std::vector<Dim> extents, steps;
  for (size_t i = 0; i < operand.shape->size(); ++i) {
    if (operand.shape->list()[i] == Dim(1)) continue;
    extents.push_back(operand.shape->list()[i]);
    steps.push_back(operand.counting->steps[i]);
  }
  Counting result{operand.counting->first, {}};
  size_t next = 0;
  for (const Dim& extent : shape.list()) {
    const bool is_next = extent != Dim(1);
    if (is_next && (next == extents.size() || extents[next] != extent)) return std::nullopt;
    result.steps.push_back(is_next ? steps[next++] : Dim(0));
  }
  if (next != extents.size()) return std::nullopt;
  return result;
}

/// Returns the function of a range of integers, whose axis has the extent `count`.
std::optional<Counting> Range(const Attributes& attributes, const Dim& count) {
  constexpr int64_t kMost = int64_t{1} << 48;
  const auto is_modest = [](const Dim& size) {
    const int64_t number = size.AsConstant().value_or(0);
    return size.IsKnown() && number >= -kMost && number <= kMost;
  };
  const Dim start = ReadSize(attributes.at("start")), delta = ReadSize(attributes.at("delta"));
  if (!is_modest(start) || !is_modest(delta)) return std::nullopt;
  return Counting{start, {count == Dim(1) ? Dim(0) : delta}};
}

}  // namespace

std::optional<Counting> CountingOf(Op op, const std::vector<CountingOperand>& operands,
                                   const Attributes& attributes, const OperandShape& shape) {
  switch (op) {
    case Op::kRange:
      return Range(attributes, shape.list().front());
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul: {
      const auto a = Broadcast(operands[0], shape), b = Broadcast(operands[1], shape);
      if (!a || !b) return std::nullopt;
      return Combined(op, *a, *b);
    }
    case Op::kExpand:
      return Broadcast(operands[0], shape);
    case Op::kReshape:
      return Reshaped(operands[0], shape);
    default:
      return std::nullopt;
  }
}

bool CountsInOrder(const Counting& counting, const OperandShape& shape) {
  if (counting.first != Dim(0)) return false;
  Dim stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const Dim& extent = shape.list()[i];
    if (extent != Dim(1) && counting.steps[i] != stride) return false;
    stride = stride * extent;
  }
  return true;
}

bool AreBelow(const Counting& counting, const OperandShape& shape, const Dim& size) {
  Dim last = counting.first;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!ProveAtMost(0, counting.steps[i], {})) return false;
    last = last + counting.steps[i] * (shape.list()[i] - 1);
  }
  return ProveAtMost(0, counting.first, {}) && ProveAtMost(last + 1, size, {});
}

}  // namespace tunec::onnx_import
