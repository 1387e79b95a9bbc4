// How a dense tensor lies in memory, where that is not row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace tunec {

/// The axes as they lie in memory, outermost first. Empty: in their order, which is row-major.
using AxisOrder = std::vector<int64_t>;

/// "row_major", "channels_last" (all axes but the second, then that) or the axes: "0,2,3,1".
/// kInvalidArgument for what is none of these, and for what `rank` axes cannot be.
Result<AxisOrder> ParseAxisOrder(std::string_view text, size_t rank);

/// The order that undoes this one.
AxisOrder Inverse(const AxisOrder& order);

/// Sizes in this order, and back: LogicalShape(LaidShape(s, order), order) == s.
std::vector<int64_t> LaidShape(std::span<const int64_t> logical, const AxisOrder& order);
std::vector<int64_t> LogicalShape(std::span<const int64_t> laid, const AxisOrder& order);

/// Whether these strides, in elements, say dense in this order. Null says row-major. Those of axes
/// of one element say nothing, and without elements none do.
bool LiesIn(std::span<const int64_t> shape, const int64_t* strides, const AxisOrder& order);

}  // namespace tunec
