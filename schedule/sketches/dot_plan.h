// The roles of a register tile whose products an instruction does that multiplies pairs of reduced
// neighbours and adds both products (ir/tile_intrinsic.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/target.h"
#include "schedule/rounding_freedom.h"
#include "schedule/sketch.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

/// The instructions of the target that multiply pairs of bfloat16: in vectors of the width that it
/// works with, and matrices with rows as long as these.
std::vector<const TileIntrinsic*> DotInstructions(const Target& target);

/// Returns whether products may round operands to one term of bfloat16: the contract allows that,
/// and the target has instructions for such terms.
bool RoundsToOneTerm(const RoundingFreedom& rounding, const Target& target);

/// The plan with the instruction in place of multiply-adds. `plain` is one of the lowering's; its
/// column and rows stay. Of an instruction on matrices, rows and depth are padded as the columns
/// are. None where the sum is not one of products of two operands of bfloat16, or
/// of float32 that the contract lets be rounded to it, for matrices to several terms; where no
/// iterator of the reduction is a dimension of both; and where what is left over of whole
/// instructions can't be padded by zeros.
std::optional<TilePlan> MakeDotPlan(const TilePlan& plain, const NamedCompute& lowering,
                                    const TileIntrinsic& intrinsic,
                                    const RoundingFreedom& rounding);

/// How much faster than the best plain plan one is expected to be whose instruction gains so much:
/// padding is multiplied, too, and each term, and operands that are no constants are rounded and
/// packed while running. Requires: plan.dot.
double GainOf(const TilePlan& plan, const TilePlan& plain, double instruction_gain);

}  // namespace tunec
