// Register tiles whose products an instruction on matrices does.
#pragma once

#include "ir/target.h"
#include "schedule/sketch.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

/// The sketch of a plan by such an instruction. Requires: plan.dot, its pack and its row.
Sketch MatrixTileSketch(const std::string& name, const TilePlan& plan, const Target& target);

}  // namespace tunec
