// The accuracy contract: how far a kernel's results may be from the exact ones, as the user
// chose it with --accuracy. It is part of the tuning key and decides which schedules are legal.
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
  kTf32,   // as with operands rounded to 10 bits of fraction, accumulated in float32
  kBf16,   // as with operands rounded to bfloat16, accumulated in float32
  kBound,  // a number bounds the error
};

struct Accuracy {
  AccuracyMode mode = AccuracyMode::kF32;
  double bound = 0;  // kBound: greatest allowed error, relative to the scale (check.h)
  bool operator==(const Accuracy&) const = default;
};

/// `exact`, `f32`, `tf32`, `bf16`, or the number in its shortest form that reads back equal.
std::string Print(const Accuracy& accuracy);
/// The inverse. kInvalidArgument for anything else; a number must be positive and finite.
Result<Accuracy> ParseAccuracy(std::string_view text);

/// The largest error that operands in two bfloat16 terms make, relative to the sum of the products'
/// magnitudes.
inline constexpr double kErrorOfTwoTerms = 0x1p-15;

/// What the rounding of both operands adds at most, relative to a product: 2^-10 under tf32, 2^-7
/// under bf16. The other contracts name no rounding of operands: 0.
double OperandError(AccuracyMode mode);

/// What applying a schedule is to be given under this contract. Operands may be split into bfloat16
/// terms:
///   exact   never
///   f32     three terms, six products: less is lost than in the sum
///   tf32    two or three: 16 bits of each operand, where tf32 has 11
///   bf16    one to three
///   number  one from 2^-7 on (each operand is off by 2^-8 of it), two from 2^-15 on, else three
/// Tiles may round them to TF32 under tf32, bf16, and numbers from 2^-10 on. A sum computed in
/// another way, whose bounded error is more than that of its order, may be off by a
/// number's own, else by OperandError.
RoundingFreedom RoundingFreedomFor(const Accuracy& accuracy);
/// How reductions may be reordered under this contract.
ReductionOrder ReductionOrderFor(const Accuracy& accuracy);
/// What LoopNest::contraction is to be under this contract.
Contraction ContractionFor(const Accuracy& accuracy);

}  // namespace tunec
