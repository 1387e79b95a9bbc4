// Elements for the two operands of a contraction: such as make its arithmetic go wrong if it can.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/array.h"
#include "support/random.h"

namespace tunec::fuzz {

enum class Operands : uint8_t {
  kUniform,
  kPositive,    // all of one sign: long sums of parts that differ much
  kFewBits,     // quarters: most sums are exact
  kWide,        // exponents from -50 to 50
  kOpposed,     // wide exponents along what is reduced, of opposite sign: products of one size
  kCancelling,  // neighbours of what is reduced cancel, all but their last bits
  kSparse,      // mostly zeros of both signs
  kSubnormal,   // ordinary ones and some below the normal numbers
  kTiny,        // one near the smallest normal numbers, the other large
  kLarge,       // one near the largest numbers, the other small
  kSpecial,     // some infinities or NaN
};
inline constexpr int kOperandKinds = static_cast<int>(Operands::kSpecial) + 1;
std::string_view Name(Operands kind);

/// Which dimension of an operand is reduced, and how many of its elements one sum has: fewer than
/// the dimension where it holds several groups, one after the other.
struct ReducedAxis {
  int axis = 0;
  int64_t period = 1;
};

/// Products stay below 2^105, so that no sum leaves float32.
void FillOperands(Array& left, const ReducedAxis& of_left, Array& right,
                  const ReducedAxis& of_right, Operands kind, Random& random);

/// Elements by themselves, of any float type: not of the kinds that are about what is reduced.
void FillElements(Array& array, Operands kind, Random& random);

/// Uniform in [-1, 1).
Array UniformElements(std::vector<int64_t> shape, Random& random);

}  // namespace tunec::fuzz
