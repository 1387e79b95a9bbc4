// The accuracy mode, which limits the distance of a kernel's results from the exact results. Users
// choose it with --accuracy. It is part of the tuning key and decides which schedules are legal.
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
  kF32,    // at most 1.5 times the error of a sequential float32 FMA evaluation (check.h)
  kTf32,   // same as operands rounded to 10 bits of fraction, accumulated in float32
  kBf16,   // same as operands rounded to bfloat16, accumulated in float32
  kBound,  // at most the error that `bound` gives
};

struct Accuracy {
  AccuracyMode mode = AccuracyMode::kF32;
  double bound = 0;  // kBound: greatest allowed error, relative to the scale (check.h)
  bool operator==(const Accuracy&) const = default;
};

/// Returns `exact`, `f32`, `tf32`, `bf16`, or the bound with the fewest significant digits that
/// parse to the same value.
std::string Print(const Accuracy& accuracy);
/// Parses a text of Print, or a number that std::from_chars accepts. Errors: kInvalidArgument for
/// other texts, and for numbers that are not positive and finite.
Result<Accuracy> ParseAccuracy(std::string_view text);

/// The largest error of products whose operands are split into two bfloat16 limbs, relative to the
/// sum of the products' magnitudes.
inline constexpr double kErrorOfTwoBf16Parts = 0x1p-15;

/// Returns the largest error of a product whose two operands are rounded, relative to the product:
/// 2^-10 for tf32, 2^-7 for bf16. Returns 0 for the other modes.
double OperandError(AccuracyMode mode);

/// Returns the rounding freedom that schedules have under this accuracy mode. The numbers of
/// bfloat16 limbs into which operands may be split are:
///   exact   none: operands are not split
///   f32     three limbs, six products: the error is less than that of the sum
///   tf32    two or three: two limbs hold 16 bits of each operand, tf32 has 11
///   bf16    one to three
///   bound   one to three if the bound is at least 2^-7, two or three if it is at least 2^-15, else
///           three (the error of an operand in one limb is 2^-8)
/// Operands may be rounded to TF32 under tf32, bf16, and bounds of at least 2^-10. Transformed
/// sums, such as Winograd's, may have a larger error than a reordered sum. Their allowed error is
/// then the bound of kBound, and OperandError in the other modes.
RoundingFreedom RoundingFreedomFor(const Accuracy& accuracy);
/// Returns the allowed order of reductions under this accuracy mode.
ReductionOrder ReductionOrderFor(const Accuracy& accuracy);
/// Returns the value of LoopNest::contraction under this accuracy mode.
Contraction ContractionFor(const Accuracy& accuracy);

}  // namespace tunec
