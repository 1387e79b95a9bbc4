#include "tests/schedule/long_sum_sketches.h"

#include "tests/programs/must_parse.h"

namespace tunec::test {

std::vector<Sketch> SketchesOf(const LongSum& sum, const Target& target,
                               const RoundingFreedom& rounding) {
  std::vector<NamedCompute> lowerings = {{"direct", MustParse(sum.text)}};
  if (!sum.winograd.empty()) lowerings.push_back({"winograd", MustParse(sum.winograd)});
  return SketchesFor({.lowerings = lowerings, .target = target, .rounding = rounding});
}

std::optional<Sketch> SketchOf(const LongSum& sum, const Target& target) {
  for (Sketch& sketch : SketchesOf(sum, target, ReductionOrder::kAny)) {
    if (sketch.name.starts_with(sum.sketch)) return std::move(sketch);
  }
  return std::nullopt;
}

Compute ComputeOf(const LongSum& sum, const Schedule& schedule) {
  return MustParse(schedule.lowering == "winograd" ? sum.winograd : sum.text);
}

}  // namespace tunec::test
