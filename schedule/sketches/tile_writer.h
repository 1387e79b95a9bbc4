// The writer of the schedule of a register tile (tile.cc).
#pragma once

#include "schedule/schedule.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

// The sizes and options of the tile. Knobs set most of these fields.
struct TileChoice {
  int64_t rows = 1;
  int64_t columns = 16;
  int64_t block = 1;  // number of tiles of rows in a block
  int64_t unroll = 1;
  bool columns_outside = false;
  bool pack = true;
  int64_t operand_vector = 16;
  bool operand_by_block = false;  // computes the operand for a block of rows, not for each tile
  bool prefetch = false;          // prefetch the next panel during the products of the current one
  bool operand_prefetch = false;  // for a chain: prefetch the first sum's reads for the next row
  int64_t batches = 1;            // number of batches in a task, if one batch is too little work
  int64_t ahead = 0;  // distance, in steps of the reduction, of the prefetch of an operand that is
                      // read once; 0: no prefetch
};

Schedule WriteTileSchedule(const TilePlan& plan, const TileChoice& choice);

}  // namespace tunec
