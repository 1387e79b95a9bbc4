// The arguments that a workload's candidates are tried on: random inputs and weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/array.h"
#include "ir/compute.h"

namespace tunec {

/// The interval that random floats are taken from. kPositive is for computations such as
/// logarithms whose results are not finite otherwise.
enum class ValueRange { kAroundZero, kPositive };

/// An array for each input and weight of the compute, in tensor order, logical row-major. Floats
/// are uniform in [-1, 1), or [0.25, 1.25) if positive; integers in their declared range, else in
/// [1, 9]; bools 0 or 1. Equal seeds and names give equal values.
std::vector<Array> RandomArguments(const Compute& compute, uint64_t seed, ValueRange range);

/// How operands of contractions are rounded before they are multiplied.
enum class OperandRounding { kNone, kTf32, kBf16 };
/// The arguments with all floats rounded so.
std::vector<Array> RoundOperands(std::span<const Array> arguments, OperandRounding rounding);

/// The array converted to f64 when it is of a float type.
Array Widen(const Array& array);

}  // namespace tunec
