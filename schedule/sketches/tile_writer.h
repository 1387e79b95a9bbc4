// Writes the schedule of a register tile for given numbers (tile.cc).
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

// The values of the knobs, by name.
struct TileChoice {
  int64_t rows = 1;
  int64_t columns = 16;
  int64_t block = 1;  // number of row tiles in a block
  int64_t unroll = 1;
  bool columns_outside = false;
  bool pack = true;
  int64_t operand_vector = 16;
  bool operand_by_block = false;  // computed once for a block of rows, not for each tile
  bool prefetch = false;          // prefetch the next panel during the products of this one
  bool operand_prefetch = false;  // for a chain, prefetch the reads of the operand's sum in the
                                  // next row
  int64_t batches = 1;            // number of batches in a task, if one is too little work
  int64_t ahead = 0;              // distance in steps of the prefetch for an operand that is read
                                  // once; 0: none
};

Schedule WriteTileSchedule(const TilePlan& plan, const TileChoice& choice);

}  // namespace tunec
