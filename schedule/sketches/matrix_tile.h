// Register tiles whose products are computed by an instruction on matrices.
#pragma once

#include "ir/target.h"
#include "schedule/sketch.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

/// Returns the sketch of a plan with such an instruction. Requires: plan.dot, its pack and its row.
Sketch MatrixTileSketch(const std::string& name, const TilePlan& plan, const Target& target);

}  // namespace tunec
