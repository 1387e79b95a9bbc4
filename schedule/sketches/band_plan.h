// How the loops of one statement become those of affine rows, as isl's scheduler proposes them
// (polyhedral/affine_schedule.h): which are slanted to which others, and which can be tiled
// together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/affine_schedule.h"
#include "schedule/schedule.h"

namespace tunec {

struct BandLoop {
  std::string name;
  int64_t extent = 0;
  VarId iterator;  // that of the statement which it brings in; it may add multiples of others
  bool coincident = false;
};

struct BandPlan {
  std::string statement;
  std::vector<SkewStep> skews;
  std::vector<std::string> order;  // the loops as the skews leave them, outermost first
  std::vector<BandLoop> loops;     // the same in the order of the rows
  /// The loops of the band that is made something of: the outermost one with a loop that carries no
  /// dependence, or with several loops.
  size_t band_begin = 0;
  size_t band_end = 0;
  /// Loops whose iterations may become lanes if the dependences allow it, the most promising first:
  /// those along which a tensor is written element by element, of these first the ones with no row
  /// inside that could not be outside.
  std::vector<size_t> vectors;
  /// Short loops on whose value it depends what an instance does.
  std::vector<size_t> cases;
  /// By loop whose iterations may become lanes: the loop of the band along which the elements of an
  /// operand lie side by side that are far apart for the lanes.
  std::map<size_t, size_t> along_operand;
  bool has_conditions = false;
  /// Whether one loop alone carries nothing, around others that wait for their own iterations.
  bool around_recurrence = false;
  /// Whether tiles of the band reuse values: several of its loops carry dependences, or one does
  /// and another is along what is read again.
  bool reuses = false;

  /// The one loop of the band that carries no dependence, if only one does not.
  std::optional<size_t> LoneCoincident() const;
  bool InBand(size_t loop) const { return loop >= band_begin && loop < band_end; }
};

/// None for a statement without loops. A row that skewing cannot make (it goes backwards, or adds
/// no iterator of its own) is simplified to its iterator, or left out.
std::optional<BandPlan> PlanBand(const AffineSchedule& proposed, const Compute& compute,
                                 const Statement& statement, StatementId id);

}  // namespace tunec
