// Sketches: schedules with knobs. A sketch fixes the structure of a schedule for one kind of
// Compute on one kind of target; decisions fill its knobs with numbers. The default decisions
// of the first sketch are the analytic schedule: formulas over registers, caches and shapes,
// good enough to run with no trial at all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/target.h"
#include "schedule/step.h"

namespace tunec {

/// A choice among numbers, given in the order of a natural scale, so that neighbours are alike.
struct Knob {
  std::string name;
  std::vector<int64_t> choices;  // at least one
  int initial = 0;               // position of the analytic choice
};

/// One position per knob.
using Decisions = std::vector<int>;

struct Sketch {
  std::string name;  // "tile", "rows", ...
  std::vector<Knob> knobs;
  /// The schedule for the values of the knobs. Pure; equal values give equal schedules.
  std::function<Schedule(const std::vector<int64_t>& values)> fill;

  Decisions InitialDecisions() const;
  Schedule Fill(const Decisions& decisions) const;
  /// How many different decisions there are (saturating).
  int64_t SpaceSize() const;
};

/// One of a group's Computes by name; lowerings of the graph come in this form.
struct NamedCompute {
  std::string name;
  Compute compute;
};

/// What sketches may be switched off, to show that results do not depend on them.
enum class SketchSet { kAll, kNaiveOnly };

/// The sketches that fit the alternatives, the most promising first; the last is always the
/// naive one, which has no knobs and fits everything.
std::vector<Sketch> SketchesFor(const std::vector<NamedCompute>& lowerings, const Target& target,
                                SketchSet set = SketchSet::kAll);

}  // namespace tunec
