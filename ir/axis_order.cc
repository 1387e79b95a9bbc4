#include "ir/axis_order.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace tunec {
namespace {

AxisOrder InOrder(size_t rank) {
  AxisOrder order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool IsPermutation(AxisOrder order, size_t rank) {
  std::ranges::sort(order);
  return order == InOrder(rank);
}

// Parses numbers separated by commas. Returns an empty list for any other text.
AxisOrder NumbersOf(std::string_view text) {
  AxisOrder numbers;
  const char* begin = text.data();
  const char* const end = begin + text.size();
  for (;;) {
    int64_t number = -1;
    const auto [stop, problem] = std::from_chars(begin, end, number);
    if (problem != std::errc() || (stop != end && *stop != ',')) return {};
    numbers.push_back(number);
    if (stop == end) return numbers;
    begin = stop + 1;
  }
}

}  // namespace

Result<AxisOrder> ParseAxisOrder(std::string_view text, size_t rank) {
  if (text == "row_major") return AxisOrder();
  if (text == "channels_last") {
    if (rank < 3)
      return Fail(ErrorCode::kInvalidArgument, "channels_last has {} axes, expected at least 3",
                  rank);
    AxisOrder order = InOrder(rank);
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    return order;
  }
  const AxisOrder order = NumbersOf(text);
  if (order.empty() || !IsPermutation(order, rank))
    return Fail(ErrorCode::kInvalidArgument,
                "'{}', expected row_major, channels_last or each of the {} axes once, as in 0,2,1",
                text, rank);
  return std::ranges::is_sorted(order) ? AxisOrder() : order;
}

AxisOrder Inverse(const AxisOrder& order) {
  AxisOrder inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int64_t>(i);
  return inverse;
}

std::vector<int64_t> StoredShape(std::span<const int64_t> logical, const AxisOrder& order) {
  std::vector<int64_t> stored(logical.begin(), logical.end());
  for (size_t i = 0; i < order.size(); ++i) stored[i] = logical[order[i]];
  return stored;
}

std::vector<int64_t> LogicalShape(std::span<const int64_t> stored, const AxisOrder& order) {
  std::vector<int64_t> logical(stored.begin(), stored.end());
  for (size_t i = 0; i < order.size(); ++i) logical[order[i]] = stored[i];
  return logical;
}

bool IsDenseIn(std::span<const int64_t> shape, const int64_t* strides, const AxisOrder& order) {
  if (strides == nullptr) {
    if (order.empty()) return true;
    // Row-major equals this order if the axes with several elements are in increasing order.
    int64_t latest = -1;
    for (const int64_t axis : order) {
      if (shape[axis] == 1) continue;
      if (axis < latest) return std::ranges::find(shape, 0) != shape.end();
      latest = axis;
    }
    return true;
  }
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const auto axis = order.empty() ? i : static_cast<size_t>(order[i]);
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    // A product that overflows exceeds the size of every tensor.
    if (__builtin_mul_overflow(expected, shape[axis], &expected)) return false;
  }
  return true;
}

}  // namespace tunec
