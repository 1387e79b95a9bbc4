// Sketches: schedules with knobs. A sketch fixes the structure of a schedule for one kind of
// Compute on one kind of target; decisions fill its knobs with numbers. The default decisions
// of the first sketch are the analytic schedule: formulas over registers, caches and shapes,
// good enough to run with no trial at all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/compute.h"
#include "ir/target.h"
#include "ir/tile_intrinsic.h"
#include "schedule/rounding_freedom.h"
#include "schedule/schedule.h"

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
  /// "rows", or "tile/j/wide": what it is made of, which no other sketch of a lowering has. Other
  /// sketches may come and go without changing it; the database keeps it beside decisions.
  std::string name;
  std::vector<Knob> knobs;
  /// The schedule for the values of the knobs. Pure; equal values give equal schedules.
  std::function<Schedule(const std::vector<int64_t>& values)> fill;

  /// The name up to the first slash: "tile".
  std::string_view Kind() const;
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

/// The lowering that a schedule names; null when there is none of that name.
const Compute* FindLowering(const std::vector<NamedCompute>& lowerings, std::string_view name);

/// What sketches may be switched off, to show that results do not depend on them.
enum class SketchSet { kAll, kNaiveOnly };

/// How sketches are sought, stage by stage: what costs more is left to where nothing that was found
/// before it applies.
enum class SketchStage : uint8_t {
  kPatterns,  // of the whole Compute's accesses; cheap
  kComposed,  // of its loop nests; applies schedules to each
  kAffine,    // isl's scheduler; computes all dependences
  kNaive,     // without knobs or steps; fits everything
};

/// How many times as many products as plain multiply-adds of vectors an instruction of the target
/// does in the same time.
using ArithmeticGain = std::function<double(const TileIntrinsic& intrinsic)>;

/// Whether a copy of a constant in this order is in memory already, for another schedule.
using IsPacked = std::function<bool(const PackStep& pack)>;

/// What sketches are sought for.
struct SketchQuestion {
  const std::vector<NamedCompute>& lowerings;
  const Target& target;
  RoundingFreedom rounding;
  SketchSet set = SketchSet::kAll;
  /// Ranks sketches of different arithmetic. Asked only where there are some. Empty: not known, and
  /// those of plain multiply-adds come first.
  ArithmeticGain gain = {};
  /// Where a sketch has to choose among orders of a constant, one that is in memory already goes
  /// before another that is little better. Empty: none is.
  IsPacked packed = {};
};

std::vector<Sketch> SketchesOf(SketchStage stage, const SketchQuestion& question);

/// The sketches of the first stage that has one whose analytic schedule applies, and those of the
/// stages before it, the most promising first; the last is always the naive one.
std::vector<Sketch> SketchesFor(const SketchQuestion& question);

}  // namespace tunec
