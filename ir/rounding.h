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

/// Returns the truncated float, or the end of the type that is nearest to it; NaN gives 0. Bounds
/// and other numbers of a model become integers so. bool: value != 0.
int64_t SaturateToInt(double value, DataType integer_type);

/// Returns what a cast makes of a float: the low bits of a signed conversion to 32 or 64 bits, as
/// x86 has it. A value that does not fit the conversion, NaN included, gives its smallest number. A
/// value for u32 or u64 that is at least 2^31 or 2^63 is converted without that number, which is
/// added afterwards. bool: value != 0.
int64_t CastToInt(double value, DataType integer_type);

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
