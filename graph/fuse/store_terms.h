// Values between kernels that are stored as bfloat16, where what reads them rounds them anyway.
#pragma once

#include "graph/fuse/fusion_plan.h"

namespace tunec {

/// Has float32 values stored as one bfloat16 term (FusionPlan::stored, FusionGroup::stored): those
/// that some group multiplies by instructions for bfloat16, and what a maximum of such is taken of.
/// The group that makes such a value rounds what it stores, once, and half the bytes are moved; the
/// others that read it, a residual sum for one, read the rounded value. The value's own type stays,
/// so nothing but lowering and the memory plan knows of it.
///
/// Values that no product takes stay as they are, for reading them would cost a conversion and gain
/// no more than bytes. So do the model's inputs and outputs, constants, and what operators without
/// statements of their own make or read. A value and all that lie within its storage are stored
/// alike.
///
/// For contracts that let operands be rounded to one term, on targets that multiply such.
/// O(values and their users).
void StoreTerms(const Graph& graph, FusionPlan& plan);

}  // namespace tunec
