// Functions that draw elements for the operands of kernels, to expose errors of arithmetic.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/array.h"
#include "support/random.h"

namespace tunec::fuzz {

enum class Operands : uint8_t {
  kUniform,
  kPositive,    // from 0.25 to 1.25: a long sum is much larger than the next product
  kFewBits,     // multiples of 1/4 from -4 to 4: most sums are exact
  kWide,        // exponents from -50 to 50
  kOpposed,     // scaled by powers of two along the reduced axis, which cancel in products
  kCancelling,  // the products of two consecutive elements of the reduced axis almost cancel
  kSparse,      // mostly zeros of both signs
  kSubnormal,   // ordinary numbers and some subnormal numbers
  kTiny,        // left: exponents from -105 to -95; right: from 30 to 40
  kLarge,       // left: exponents from 110 to 119; right: from -110 to -100
  kSpecial,     // some infinities and NaN in the left operand
};
inline constexpr int kOperandKinds = static_cast<int>(Operands::kSpecial) + 1;
std::string_view Name(Operands kind);

/// The reduced axis of an operand. `period` is the number of elements along the axis in one sum. It
/// is less than the axis's size if the axis has several groups, one after the other.
struct ReducedAxis {
  int axis = 0;
  int64_t period = 1;
};

/// Fills both operands. Finite products stay below 2^105, so sums do not overflow float32.
void FillOperands(Array& left, const ReducedAxis& of_left, Array& right,
                  const ReducedAxis& of_right, Operands kind, Random& random);

/// Fills an array of any float type with independent elements, like those of a right operand. For
/// kOpposed and kCancelling, which need a reduced axis, elements are uniform.
void FillElements(Array& array, Operands kind, Random& random);

/// Returns a float32 array whose elements are uniform in [-1, 1).
Array UniformElements(std::vector<int64_t> shape, Random& random);

}  // namespace tunec::fuzz
