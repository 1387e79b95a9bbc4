// Conversion of numbers to elements of a type. Literals, arrays, the evaluator and constant folding
// share this definition of rounding, wrapping and saturation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/data_type.h"

namespace tunec {

/// Returns the nearest value of a float type; of two nearest values, the even one. The value is
/// rounded only once, also from double to f16.
double RoundTo(double value, DataType float_type);

/// Returns the unit roundoff of a float type: half a unit in the last place, relative to 1. Returns
/// that of f32 for other types.
double RoundingOf(DataType type);

/// Returns the largest finite number of a float type.
double LargestFinite(DataType float_type);

/// Returns the low bits of `value`, sign- or zero-extended (two's complement wrapping). For bool
/// the result is value != 0. A u64 value is represented by the int64 with the same bits.
int64_t WrapTo(int64_t value, DataType integer_type);

/// Returns the float without its fraction, limited to the range of the type; NaN gives 0. The
/// function converts bounds and other numbers of a model to integers. For bool the result is value
/// != 0.
int64_t SaturateToInt(double value, DataType integer_type);

/// Returns the result of a cast from a float: the low bits of a conversion to a signed integer of
/// 32 or 64 bits, as on x86. A value that does not fit the signed integer, NaN included, gives the
/// smallest signed integer. For u32 and u64, 2^31 or 2^63 is subtracted from a value that reaches
/// it, and is added back after the conversion. For bool the result is value != 0.
int64_t CastToInt(double value, DataType integer_type);

/// Converts an integer, represented as int64 (u64: by its bits), to double, rounded to nearest.
double IntToDouble(int64_t value, DataType integer_type);

/// Return the smallest and the largest value of an integer type or bool, represented as int64.
int64_t SmallestInt(DataType integer_type);
int64_t LargestInt(DataType integer_type);

/// Load or store one element at `address`, which may be unaligned.
double LoadFloat(const std::byte* address, DataType float_type);
int64_t LoadInt(const std::byte* address, DataType integer_type);
void StoreFloat(std::byte* address, DataType float_type, double value);
void StoreInt(std::byte* address, DataType integer_type, int64_t value);

}  // namespace tunec
