// How numbers become elements of a type: the one definition of rounding, wrapping and
// saturation that literals, arrays, the evaluator and constant folding share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/data_type.h"

namespace tunec {

/// The nearest value of a float type, halves to even, rounded once (also from double to f16).
double RoundTo(double value, DataType float_type);

/// Unit roundoff: half a unit in the last place, relative. What is no float type counts as f32.
double RoundingOf(DataType type);

/// The low bits of `value`, sign- or zero-extended: two's complement wrapping. bool: value != 0.
/// u64 values are carried as the int64 with the same bits.
int64_t WrapTo(int64_t value, DataType integer_type);

/// A float as an integer: truncated, saturated at the ends of the type, NaN is 0; bool: value != 0.
int64_t FloatToInt(double value, DataType integer_type);

/// An integer carried as int64 (u64: by its bits) as a double, rounded to nearest.
double IntToDouble(int64_t value, DataType integer_type);

/// The smallest and the largest value of an integer type or bool, carried as int64.
int64_t SmallestInt(DataType integer_type);
int64_t LargestInt(DataType integer_type);

/// One element at `address`, which may be unaligned.
double LoadFloat(const std::byte* address, DataType float_type);
int64_t LoadInt(const std::byte* address, DataType integer_type);
void StoreFloat(std::byte* address, DataType float_type, double value);
void StoreInt(std::byte* address, DataType integer_type, int64_t value);

}  // namespace tunec
