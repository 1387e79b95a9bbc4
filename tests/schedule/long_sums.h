// Computes with sums that are long enough to be added in pieces, in every role that a tile or
// products between transforms give them.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "schedule/sketch.h"

namespace tunec::test {

struct LongSum {
  std::string name;
  std::string text;
  std::string sketch;         // what the name of the sketch begins with that is tested
  std::string winograd = {};  // the lowering of that name, if there is one
};

/// The sums' sketches, all of them.
std::vector<Sketch> SketchesOf(const LongSum& sum, const Target& target,
                               const RoundingFreedom& rounding);
/// The one that is tested.
std::optional<Sketch> SketchOf(const LongSum& sum, const Target& target);
/// The Compute that the schedule's lowering names.
Compute ComputeOf(const LongSum& sum, const Schedule& schedule);

/// Of sizes that pieces and tiles divide, and those that they don't.
std::vector<LongSum> LongSums();
/// Of any size.
LongSum LongProduct(int rows, int columns, int length);
LongSum LongConvolution(int channels);
LongSum LongWinograd(int channels);
inline void PrintTo(const LongSum& sum, std::ostream* out) { *out << sum.name; }

}  // namespace tunec::test
