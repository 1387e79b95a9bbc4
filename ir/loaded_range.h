// The interval of the values that a read of an integer tensor can have.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/compute.h"

namespace tunec {

/// Returns an interval that contains all values of the read of `tensor`. Outside its guard, a read
/// has the value `outside`, which can be outside the tensor's range. For floats the interval is
/// unknown, because they are no indices.
inline Interval LoadedRange(const Tensor& tensor, const Read& read) {
  if (IsFloat(tensor.type)) return kUnknownInterval;
  Interval range = tensor.range.value_or(kUnknownInterval);
  if (!read.guard) return range;
  const auto outside = static_cast<int64_t>(std::clamp<double>(
      read.guard->outside, -static_cast<double>(kUnbounded), static_cast<double>(kUnbounded)));
  return {std::min(range.lo, outside), std::max(range.hi, outside)};
}

}  // namespace tunec
