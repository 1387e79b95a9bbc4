// The writer of the schedule of a register tile of matrix instructions (matrix_tile.cc).
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

// The sizes and options of the tile. Knobs set most of these fields.
struct MatrixChoice {
  int64_t rows = 2;     // in tiles of the instruction
  int64_t columns = 2;  // in tiles of the instruction
  int64_t block = 1;    // number of groups of `rows` tiles in a block
  int64_t depth = 0;    // K-block of the long reduction, in instructions; 0: all of the reduction
  bool columns_outside = false;
  int64_t operand_vector = 16;
  bool operand_by_block = false;  // the operand is computed once for a block of rows
};

/// Returns the number of elements of the long reduction that one instruction multiplies. Requires:
/// plan.dot.
int64_t StepLengthOf(const TilePlan& plan);
/// Returns the number of instructions along the long reduction. Requires: plan.dot and
/// plan.long_reduction.
int64_t StepsOf(const TilePlan& plan);

/// Returns the schedule. Has the requirements of MatrixTileSketch (matrix_tile.h).
Schedule WriteMatrixSchedule(const TilePlan& plan, const MatrixChoice& choice);

}  // namespace tunec
