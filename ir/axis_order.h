// The order of a dense tensor's axes in memory: row-major, channels last or any other order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace tunec {

/// The axes in memory order, outermost first. An empty order is row-major.
using AxisOrder = std::vector<int64_t>;

/// Parses "row_major", "channels_last" (the order 0, 2, ..., rank - 1, 1) or a list of axes such as
/// "0,2,3,1". Fails with kInvalidArgument for any other text, and if a tensor of `rank` axes cannot
/// have this order. Returns an empty order for "row_major" and for a list in increasing order.
Result<AxisOrder> ParseAxisOrder(std::string_view text, size_t rank);

/// Returns the inverse permutation.
AxisOrder Inverse(const AxisOrder& order);

/// Convert a logical shape to the shape in memory order, and back: LogicalShape(StoredShape(s,
/// order), order) == s.
std::vector<int64_t> StoredShape(std::span<const int64_t> logical, const AxisOrder& order);
std::vector<int64_t> LogicalShape(std::span<const int64_t> stored, const AxisOrder& order);

/// Returns whether these strides, in elements, describe a dense tensor in this order. Null means
/// row-major. Strides of axes with one element are ignored, and a tensor without elements is dense
/// for all strides.
bool IsDenseIn(std::span<const int64_t> shape, const int64_t* strides, const AxisOrder& order);

}  // namespace tunec
