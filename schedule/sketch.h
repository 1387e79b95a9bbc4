// Sketches: schedules with knobs. A sketch fixes the structure of a schedule. Decisions fill its
// knobs with numbers. The initial decisions of a sketch give its analytic schedule: formulas over
// registers, caches and shapes choose the numbers, without any trial.
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
  /// chosen numbers.
  std::string name;
  std::vector<Knob> knobs;
  /// Returns the schedule for the values of the knobs. The function is pure: equal values give
  /// equal schedules.
  std::function<Schedule(const std::vector<int64_t>& values)> fill;

  /// Returns the part of the name before the first slash, or the whole name: "tile".
  std::string_view Kind() const;
  Decisions InitialDecisions() const;
  Schedule Fill(const Decisions& decisions) const;
  /// Returns the number of different decisions, or a smaller number that is at least 2^53.
  int64_t SpaceSize() const;
};

/// A lowering of a group: a Compute that computes the group in one of several ways, and the name of
/// this way, such as `direct`.
struct NamedCompute {
  std::string name;
  Compute compute;
};

/// Returns the Compute of the lowering with this name. Returns null if there is none.
const Compute* FindLowering(const std::vector<NamedCompute>& lowerings, std::string_view name);

/// The set of enabled sketches: all sketches, or only the naive sketch.
enum class SketchSet { kAll, kNaiveOnly };

/// The stages of the search for sketches, in the order of the search.
enum class SketchStage : uint8_t {
  kPatterns,  // patterns in the accesses of the whole Compute; cheap
  kComposed,  // patterns of its loop nests; applies schedules to each nest
  kAffine,    // isl's scheduler; computes all dependences
  kNaive,     // without knobs or steps; fits everything
};

/// A function that returns how many times faster than plain vector multiply-adds an instruction of
/// the target computes products.
using ArithmeticGain = std::function<double(const TileIntrinsic& intrinsic)>;

/// A function that returns whether a constant is already packed as `pack` describes.
using IsPacked = std::function<bool(const PackStep& pack)>;

/// The input of the search for sketches.
struct SketchQuestion {
  const std::vector<NamedCompute>& lowerings;
  const Target& target;
  RoundingFreedom rounding;
  SketchSet set = SketchSet::kAll;
  /// The gain by which sketches of different arithmetic are ranked. If the function is empty,
  /// sketches of plain multiply-adds come first.
  ArithmeticGain gain = {};
  /// The function that returns which packs of constants exist already. Tiles that need only these
  /// packs are preferred, unless others are clearly better. An empty function means no packs.
  IsPacked packed = {};
};

std::vector<Sketch> SketchesOf(SketchStage stage, const SketchQuestion& question);

/// Returns the sketches of the stages up to the first stage that has a sketch whose analytic
/// schedule applies, the most promising first. The last one is always the naive sketch. With
/// kNaiveOnly, the naive sketch is the only one.
std::vector<Sketch> SketchesFor(const SketchQuestion& question);

}  // namespace tunec
