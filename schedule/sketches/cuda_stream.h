// Sketches of flash attention for a device. One phase computes two products, with work on rows
// between them (cuda_stream.cc).
#pragma once

#include <vector>

#include "schedule/apply.h"
#include "schedule/sketch.h"

namespace tunec {

struct EstimatedSketch {
  Sketch sketch;
  double seconds = 0;  // estimated time for the initial values of its knobs
};

/// Returns at most four sketches for lowerings of a group that are flash attention, the best first.
/// Receives all lowerings, because they differ in sizes that only the device's estimates can rank.
/// Each initial schedule applies. Requires: no property of the device is unknown (WithAllFacts).
std::vector<EstimatedSketch> MakeCudaStreamSketches(const std::vector<NamedCompute>& lowerings,
                                                    const Accelerator& device,
                                                    const RoundingFreedom& rounding);

}  // namespace tunec
