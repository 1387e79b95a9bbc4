// The roles of a register tile whose products an instruction does that multiplies pairs of reduced
// neighbours and adds both products (ir/tile_intrinsic.h).
#pragma once

#include <optional>
#include <string>

#include "ir/target.h"
#include "schedule/rounding_freedom.h"
#include "schedule/sketch.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

/// The instruction that multiplies pairs of bfloat16, where the target has it in vectors of the
/// width that it works with; else null.
const TileIntrinsic* DotInstruction(const Target& target);

/// The plan with the instruction in place of multiply-adds. `plain` is one of the lowering's; its
/// column and rows stay. None where the sum is not one of products of two operands of bfloat16, or
/// of float32 that the contract lets be rounded to it; where no iterator of the reduction is a
/// dimension of both; and where what is left over of whole instructions can't be padded by zeros.
std::optional<TilePlan> MakeDotPlan(const TilePlan& plain, const NamedCompute& lowering,
                                    const TileIntrinsic& intrinsic,
                                    const RoundingFreedom& rounding);

}  // namespace tunec
