// A pass that stores values between kernels as bfloat16 if a reader rounds them anyway.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Marks float32 values that are stored as bfloat16 (FusionPlan::stored, FusionGroup::stored).
/// These are values that some group can multiply with bfloat16 instructions, and the operands of
/// max pools whose results are marked. The producing group rounds each value once when storing the
/// value, and half as many bytes are moved. All readers, for example a residual sum, read the
/// rounded value. The value's own type does not change.
///
/// Other values are not marked: converting them would save only bytes. Also not marked are the
/// model's inputs and outputs, constants, and operands and results of scatters and of operators
/// that are never fused. A value and all values within its storage are stored in the same type.
///
/// Use only if the accuracy contract allows rounding operands to bfloat16, and the target has
/// bfloat16 products. O(values and their users).
void StoreAsBf16(const Graph& graph, FusionPlan& plan);

}  // namespace tunec
