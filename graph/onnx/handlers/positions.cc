#include "graph/onnx/handlers/positions.h"

#include <optional>

#include "ir/sizes.h"

namespace tunec::onnx_import {

namespace {

/// Checks that each index of the constant positions is in the range of its axis.
Status CheckPositions(const Array& positions, const std::vector<int64_t>& sizes) {
  const auto axes = static_cast<int64_t>(sizes.size());
  for (int64_t i = 0; i < positions.size(); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i % axes)];
    const int64_t index = positions.GetInt(i);
    if (index >= -size && index < size) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "index {} of axis {} at position {} is out of range, expected {} to {}", index,
                i % axes, i / axes, -size, size - 1);
  }
  return {};
}

}  // namespace

Result<Formula> RowNumbers(const Formula& indices, const std::vector<int64_t>& sizes,
                           int64_t outside) {
  TUNEC_ASSIGN(const Operand operand, indices.Take());
  if (operand->constant) TUNEC_RETURN_IF_ERROR(CheckPositions(*operand->constant, sizes));
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;) {
    strides[i] = MultiplySizes(strides[i + 1], sizes[i + 1]);
  }
  const Formula given = indices.Cast(DataType::kI64);
  const int64_t last = indices.rank() - 1;
  std::optional<Formula> numbers, are_inside;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Formula index = given.At(last, static_cast<int64_t>(i));
    const auto size = static_cast<double>(sizes[i]);
    const Formula position = Where(Less(index, index.Number(0)), index + size, index);
    const Formula number = position * static_cast<double>(strides[i]);
    const Formula is_inside =
        And(LessOrEqual(position.Number(0), position), Less(position, position.Number(size)));
    numbers = numbers ? *numbers + number : number;
    are_inside = are_inside ? And(*are_inside, is_inside) : is_inside;
  }
  return Where(*are_inside, *numbers, numbers->Number(static_cast<double>(outside)));
}

Formula CheckedIndex(const Formula& index, int64_t extent) {
  return Gather(Iota(index.node(), 0, extent), index);
}

}  // namespace tunec::onnx_import
