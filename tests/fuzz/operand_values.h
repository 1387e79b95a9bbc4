// Elements for the two operands of a contraction, chosen to expose errors of its arithmetic.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/array.h"
#include "support/random.h"

namespace tunec::fuzz {

enum class Operands : uint8_t {
  kUniform,
  kPositive,    // positive: long sums of parts with very different sizes
  kFewBits,     // quarters: most sums are exact
  kWide,        // exponents from -50 to 50
  kOpposed,     // wide, opposite exponents along the reduced axis: products of one size
  kCancelling,  // neighbours along the reduced axis cancel, except for their last bits
  kSparse,      // mostly zeros of both signs
  kSubnormal,   // ordinary numbers and some subnormal numbers
  kTiny,        // one operand near the smallest normal numbers, the other large
  kLarge,       // one operand near the largest numbers, the other small
  kSpecial,     // some infinities or NaN
};
inline constexpr int kOperandKinds = static_cast<int>(Operands::kSpecial) + 1;
std::string_view Name(Operands kind);

/// The reduced dimension of an operand, and the number of elements in one sum. The number is less
/// than the dimension if the dimension has several groups, one after the other.
struct ReducedAxis {
  int axis = 0;
  int64_t period = 1;
};

/// Fills both operands. Products stay below 2^105, so sums do not overflow float32.
void FillOperands(Array& left, const ReducedAxis& of_left, Array& right,
                  const ReducedAxis& of_right, Operands kind, Random& random);

/// Fills independent elements of any float type. Does not accept the kinds about reduced axes.
void FillElements(Array& array, Operands kind, Random& random);

/// Returns elements uniform in [-1, 1).
Array UniformElements(std::vector<int64_t> shape, Random& random);

}  // namespace tunec::fuzz
