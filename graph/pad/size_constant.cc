#include "graph/pad/size_constant.h"

#include <cmath>
#include <limits>

namespace tunec::pad {
namespace {

int BitsOf(DataType type) { return static_cast<int>(SizeOf(type)) * 8; }

}  // namespace

Array ScalarOf(DataType type, double value) {
  Array array(type, {});
  if (IsFloat(type)) {
    array.SetDouble(0, value);
  } else if (value >= 0x1p63) {
    array.SetInt(0, type == DataType::kU64 ? -1 : std::numeric_limits<int64_t>::max());
  } else {
    array.SetInt(0, static_cast<int64_t>(value));
  }
  return array;
}

double LeastOf(DataType type) {
  if (IsFloat(type)) return -INFINITY;
  return IsSigned(type) ? -std::ldexp(1.0, BitsOf(type) - 1) : 0;
}

double GreatestOf(DataType type) {
  if (IsFloat(type)) return INFINITY;
  const int bits = IsSigned(type) ? BitsOf(type) - 1 : BitsOf(type);
  // A double cannot represent 2^64 - 1, so the greatest numbers are rounded up. ScalarOf converts
  // the rounded number to the greatest one.
  return bits >= 63 ? std::ldexp(1.0, bits) : std::ldexp(1.0, bits) - 1;
}

}  // namespace tunec::pad
