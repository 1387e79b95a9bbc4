// Plans of register tiles with a dot-product instruction (ir/tile_intrinsic.h). For each sum, the
// instruction multiplies two or more elements of each operand that are consecutive along the
// reduced dimension, and adds the products.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/target.h"
#include "schedule/rounding_freedom.h"
#include "schedule/sketch.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

/// Returns the target's instructions that multiply pairs of bfloat16: on vectors of the target's
/// preferred width, and on matrices with rows of the same length.
std::vector<const TileIntrinsic*> DotInstructions(const Target& target);

/// Checks that products may round operands to one part of bfloat16. The contract must permit the
/// rounding, and the target must have an instruction for products of bfloat16.
bool CanRoundToBf16(const RoundingFreedom& rounding, const Target& target);

/// Returns the plan with the instruction in place of multiply-adds. The column and the row of
/// `plain`, a plan of the lowering, are unchanged. Incomplete instructions are padded with zeros.
/// Returns nothing if the instruction does not fit, for example in these cases: the operands are
/// neither bfloat16 nor float32 that the contract permits to round (for matrices, to split into
/// several bfloat16 parts); no iterator of the reduction is a dimension of both operands; zeros
/// cannot pad the incomplete instructions.
std::optional<TilePlan> MakeDotPlan(const TilePlan& plain, const NamedCompute& lowering,
                                    const TileIntrinsic& intrinsic,
                                    const RoundingFreedom& rounding);

/// Returns how many times faster than `plain` the plan is expected to be. `instruction_gain` is the
/// same factor for the instruction alone (ArithmeticGain). The estimate includes padding, the
/// products of all parts, and the time to compute operands at run time. Requires: plan.dot.
double GainOf(const TilePlan& plan, const TilePlan& plain, double instruction_gain);

}  // namespace tunec
