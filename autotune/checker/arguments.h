// Random inputs and weights for checks of a workload's candidates, and conversions of the arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/array.h"
#include "ir/compute.h"

namespace tunec {

/// The interval of random floats: [-1, 1] or [0.25, 1.25]. kPositive is for computations such as
/// logarithms, whose results are otherwise not finite.
enum class ValueRange { kAroundZero, kPositive };

/// Returns an array for each input and weight of the compute, in tensor order, logical row-major.
/// Floats are uniform in [-1, 1], or in [0.25, 1.25] for kPositive. Integers are in their declared
/// range, else in [1, 9]; bools are 0 or 1. Equal seeds and ranges give equal values to tensors of
/// the same name, type and shape.
std::vector<Array> RandomArguments(const Compute& compute, uint64_t seed, ValueRange range);

/// The rounding of operands of contractions before they are multiplied.
enum class OperandRounding { kNone, kTf32, kBf16 };
/// Returns the arguments with the elements of f32 arrays rounded; arrays of other types are copied.
std::vector<Array> RoundOperands(std::span<const Array> arguments, OperandRounding rounding);

/// Returns the array converted to f64 if it has a float type, else a copy.
Array Widen(const Array& array);

}  // namespace tunec
