// The writer that turns the BandPlan of a statement into steps.
#pragma once

#include <optional>
#include <vector>

#include "schedule/sketches/band_plan.h"

namespace tunec {

/// The kinds of transformations of a band's loops: into tiles, tasks and lanes. WriteBand does not
/// check that they are legal.
struct BandForm {
  bool tiles = false;
  bool tasks = false;
  std::optional<size_t> lanes;  // loop whose iterations become lanes
};

struct BandChoice {
  BandForm form;
  std::vector<int64_t>
      tiles;          // per loop of the band; a loop with a tile of its full size is not split
  int64_t jam = 1;    // factor of unroll_jam, used if there are no lanes
  int64_t piece = 0;  // length of the parts of a loop, if parts become tasks of vectors
  int threads = 1;
};

void WriteBand(const BandPlan& plan, const BandChoice& choice, std::vector<LoopStep>& steps);

}  // namespace tunec
