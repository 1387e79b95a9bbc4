#include "graph/onnx/handlers/positions.h"

#include <optional>

namespace tunec::onnx_import {

namespace {

/// Checks that each index of the constant positions is in the range of its axis.
Status CheckPositions(const Array& positions, const std::vector<Dim>& sizes) {
  const auto axes = static_cast<int64_t>(sizes.size());
  for (int64_t i = 0; i < positions.size(); ++i) {
    const Dim& dim = sizes[static_cast<size_t>(i % axes)];
    if (!dim.IsConstant()) continue;
    const int64_t size = dim.Value();
    const int64_t index = positions.GetInt(i);
    if (index >= -size && index < size) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "index {} of axis {} at position {} is out of range, expected {} to {}", index,
                i % axes, i / axes, -size, size - 1);
  }
  return {};
}

}  // namespace

Result<Formula> RowNumbers(const Formula& indices, const std::vector<Dim>& sizes,
                           const Dim& outside) {
  TUNEC_ASSIGN(const Operand operand, indices.Take());
  if (operand->constant) TUNEC_RETURN_IF_ERROR(CheckPositions(*operand->constant, sizes));
  std::vector<Dim> strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * sizes[i + 1];
  const Formula given = indices.Cast(DataType::kI64);
  const int64_t last = indices.rank() - 1;
  std::optional<Formula> numbers, are_inside;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Formula index = given.At(last, static_cast<int64_t>(i));
    const bool is_proved = index.ok() && (*index.value())->counting &&
                           AreBelow(*(*index.value())->counting, index.shape(), sizes[i]);
    const Formula size = index.Size(sizes[i]);
    const Formula position =
        is_proved ? index : Where(Less(index, index.Number(0)), index + size, index);
    const Formula number = position * position.Size(strides[i]);
    numbers = numbers ? *numbers + number : number;
    if (is_proved) continue;
    const Formula is_inside = And(LessOrEqual(position.Number(0), position), Less(position, size));
    are_inside = are_inside ? And(*are_inside, is_inside) : is_inside;
  }
  if (!are_inside) return *numbers;
  return Where(*are_inside, *numbers, numbers->Size(outside));
}

Formula CheckedIndex(const Formula& index, const Dim& extent) {
  return Gather(Iota(index.node(), 0, extent), index);
}

}  // namespace tunec::onnx_import
