// The sketch of register tiles whose products are computed by an instruction on matrices.
#pragma once

#include "ir/target.h"
#include "schedule/sketch.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

/// Returns the sketch of a plan with an instruction on matrices. Requires: plan.dot, plan.pack,
/// plan.row and plan.long_reduction.
Sketch MatrixTileSketch(const std::string& name, const TilePlan& plan, const Target& target);

/// Returns the number of K-blocks of a sum in the sketch's analytic schedule. Requires: the plan
/// has an instruction on matrices.
int64_t InitialBlocksOfSum(const TilePlan& plan);

}  // namespace tunec
