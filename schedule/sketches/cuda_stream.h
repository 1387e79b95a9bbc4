// Two products with work on rows between them, in one phase of a device (cuda_stream.cc).
#pragma once

#include <vector>

#include "schedule/apply.h"
#include "schedule/sketch.h"

namespace tunec {

struct EstimatedSketch {
  Sketch sketch;
  double seconds = 0;  // of the initial values of its knobs
};

/// Those of a group's lowerings that are such streams, the best of them first. Takes all lowerings,
/// since they differ in sizes that only the device tells apart. Applies what it offers. Requires: a
/// device with all facts.
std::vector<EstimatedSketch> MakeCudaStreamSketches(const std::vector<NamedCompute>& lowerings,
                                                    const Accelerator& device,
                                                    const RoundingFreedom& rounding);

}  // namespace tunec
