// Sketches: schedules with knobs. A sketch fixes the structure of a schedule for one kind of
// Compute on one kind of target. Decisions fill its knobs with numbers. The default decisions of
// the first sketch are the analytic schedule: formulas over registers, caches and shapes choose the
// numbers, and the result performs well without any trial.
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

/// A choice among numbers. The numbers are sorted by their effect, so adjacent choices have similar
/// effects.
struct Knob {
  std::string name;
  std::vector<int64_t> choices;  // at least one
  int initial = 0;               // position of the choice in the analytic schedule
};

/// The positions of the chosen numbers, one for each knob of a sketch.
using Decisions = std::vector<int>;

struct Sketch {
  /// Name of the sketch's structure, unique among the sketches of a lowering: "rows", or
  /// "tile/j/wide". It does not depend on the other sketches. The database stores the name with the
  /// decisions.
  std::string name;
  std::vector<Knob> knobs;
  /// Returns the schedule for the values of the knobs. The function is pure: equal values give
  /// equal schedules.
  std::function<Schedule(const std::vector<int64_t>& values)> fill;

  /// Returns the name up to the first slash: "tile".
  std::string_view Kind() const;
  Decisions InitialDecisions() const;
  Schedule Fill(const Decisions& decisions) const;
  /// Returns the number of different decisions, limited to the largest int64.
  int64_t SpaceSize() const;
};

/// A lowering of a group: a Compute that computes the group in one of several ways, and the name of
/// this way, such as `direct`.
struct NamedCompute {
  std::string name;
  Compute compute;
};

/// Returns the lowering that a schedule names, or null.
const Compute* FindLowering(const std::vector<NamedCompute>& lowerings, std::string_view name);

/// The set of enabled sketches. A comparison of kAll and kNaiveOnly shows that results do not
/// depend on sketches.
enum class SketchSet { kAll, kNaiveOnly };

/// The stages of the search for sketches. A stage with a higher cost runs only if no analytic
/// schedule of the earlier stages applies.
enum class SketchStage : uint8_t {
  kPatterns,  // patterns in the accesses of the whole Compute; cheap
  kComposed,  // patterns of its loop nests; applies schedules to each nest
  kAffine,    // isl's scheduler; computes all dependences
  kNaive,     // without knobs or steps; fits everything
};

/// A function that returns how many times faster than plain vector multiply-adds an instruction of
/// the target computes products.
using ArithmeticGain = std::function<double(const TileIntrinsic& intrinsic)>;

/// A function that returns whether another schedule already packs the step's constant in the step's
/// storage order.
using IsPacked = std::function<bool(const PackStep& pack)>;

/// The input of the search for sketches.
struct SketchQuestion {
  const std::vector<NamedCompute>& lowerings;
  const Target& target;
  RoundingFreedom rounding;
  SketchSet set = SketchSet::kAll;
  /// The function that ranks sketches of different arithmetic. It is called only if the arithmetic
  /// of sketches differs. If it is empty, sketches of plain multiply-adds come first.
  ArithmeticGain gain = {};
  /// The function that returns which storage orders of constants are already packed. These orders
  /// are preferred, unless another order is clearly better. If it is empty, no order is packed.
  IsPacked packed = {};
};

std::vector<Sketch> SketchesOf(SketchStage stage, const SketchQuestion& question);

/// Returns the sketches of the stages up to the first stage that has a sketch whose analytic
/// schedule applies, the most promising first. The last one is always the naive sketch.
std::vector<Sketch> SketchesFor(const SketchQuestion& question);

}  // namespace tunec
