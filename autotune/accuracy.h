// The accuracy mode: the allowed distance of a kernel's results from the exact results, as chosen
// with --accuracy. The mode is part of the tuning key and decides which schedules are legal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/loop_nest.h"
#include "polyhedral/legality/legality.h"
#include "schedule/rounding_freedom.h"
#include "support/error.h"

namespace tunec {

enum class AccuracyMode : uint8_t {
  kExact,  // reductions in the order of their iterators, separate multiply and add
  kF32,    // no worse than a sequential float32 FMA evaluation on the same inputs
  kTf32,   // same as operands rounded to 10 bits of fraction, accumulated in float32
  kBf16,   // same as operands rounded to bfloat16, accumulated in float32
  kBound,  // a number bounds the error
};

struct Accuracy {
  AccuracyMode mode = AccuracyMode::kF32;
  double bound = 0;  // kBound: greatest allowed error, relative to the scale (check.h)
  bool operator==(const Accuracy&) const = default;
};

/// Returns `exact`, `f32`, `tf32`, `bf16`, or the number in its shortest form that reads back
/// equal.
std::string Print(const Accuracy& accuracy);
/// Parses the text that Print returns. Returns kInvalidArgument for any other text; a number must
/// be positive and finite.
Result<Accuracy> ParseAccuracy(std::string_view text);

/// The largest error of operands split into two bfloat16 limbs, relative to the sum of the
/// products' magnitudes.
inline constexpr double kErrorOfTwoTerms = 0x1p-15;

/// Returns the largest error from rounding both operands, relative to a product: 2^-10 for tf32,
/// 2^-7 for bf16. The other modes do not round operands: the result is 0.
double OperandError(AccuracyMode mode);

/// Returns the rounding freedom that schedules have under this accuracy mode. Operands may be split
/// into bfloat16 limbs:
///   exact   never
///   f32     three limbs, six products: the error is less than that of the sum
///   tf32    two or three: two limbs hold 16 bits of each operand, tf32 has 11
///   bf16    one to three
///   number  one from 2^-7 on (the relative error of an operand is 2^-8), two from 2^-15 on, else
///           three
/// Tiles may round operands to TF32 under tf32, bf16, and numbers from 2^-10 on. Some sums are
/// computed in a way whose bounded error exceeds that of a reordering. Their allowed error is the
/// number of the mode, or OperandError if the mode has no number.
RoundingFreedom RoundingFreedomFor(const Accuracy& accuracy);
/// Returns the allowed order of reductions under this accuracy mode.
ReductionOrder ReductionOrderFor(const Accuracy& accuracy);
/// Returns the value of LoopNest::contraction under this accuracy mode.
Contraction ContractionFor(const Accuracy& accuracy);

}  // namespace tunec
