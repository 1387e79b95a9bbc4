// Writes the schedule of a register tile for given numbers (tile.cc).
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

// The values of the knobs, by name.
struct TileChoice {
  int64_t rows = 1;
  int64_t columns = 16;
  int64_t block = 1;  // row tiles in a block
  int64_t unroll = 1;
  bool columns_outside = false;
  bool pack = true;
  int64_t operand_vector = 16;
  bool operand_by_block = false;  // computed once for a block of rows, not for each tile
  bool prefetch = false;          // the next panel, while this one is multiplied
  bool operand_prefetch = false;  // of a chain, what the operand's sum reads in the next row
  int64_t batches = 1;            // of a task, where one is too little
  int64_t ahead = 0;              // of an operand that is read once, so many steps; 0: none
};

Schedule WriteTileSchedule(const TilePlan& plan, const TileChoice& choice);

}  // namespace tunec
