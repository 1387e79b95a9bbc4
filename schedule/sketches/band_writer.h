// The steps for one statement's band.
#pragma once

#include <optional>
#include <vector>

#include "schedule/sketches/band_plan.h"

namespace tunec {

/// How much is made of a band; what turns out to be illegal is left away.
struct BandForm {
  bool tiles = false;
  bool tasks = false;
  std::optional<size_t> lanes;  // the iterations of this loop
};

struct BandChoice {
  BandForm form;
  std::vector<int64_t> tiles;  // per loop of the band; as large as the loop: it is not cut
  int64_t jam = 1;             // iterations that go along together, where there are no lanes
  int64_t piece = 0;           // of a loop that is cut into tasks of vectors
  int threads = 1;
};

void WriteBand(const BandPlan& plan, const BandChoice& choice, std::vector<LoopStep>& steps);

}  // namespace tunec
