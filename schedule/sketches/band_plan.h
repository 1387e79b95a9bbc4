// A plan of one statement's loops that follows the proposal of isl's scheduler
// (polyhedral/affine_schedule.h). The plan has the loops to skew, and the loops that can be tiled
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
  VarId iterator;  // the statement's iterator of this loop; the row may add multiples of other
                   // iterators
  bool coincident = false;
};

struct BandPlan {
  std::string statement;
  std::vector<SkewStep> skews;
  std::vector<std::string> order;  // the loops after the skews, outermost first
  std::vector<BandLoop> loops;     // the loops in the order of the rows
  /// The chosen band: the loops from `band_begin` to before `band_end`. A band is preferred if it
  /// has several long loops, or if its first loop carries no dependence.
  size_t band_begin = 0;
  size_t band_end = 0;
  /// Positions in `loops` of the loops along which a write is contiguous. Their iterations may
  /// become lanes if the dependences allow it. Loops that can be made innermost come first.
  std::vector<size_t> vectors;
  /// Positions of short loops without a skew whose iterators occur in a condition of a value.
  std::vector<size_t> cases;
  /// Maps a loop of `vectors` along which an operand is strided to the loop of the band along which
  /// this operand is contiguous.
  std::map<size_t, size_t> along_operand;
  bool has_conditions = false;
  /// True if exactly one loop of the band carries no dependence, there are loops inside it, and all
  /// of these carry dependences.
  bool around_recurrence = false;
  /// True if tiles of the band reuse values: several long loops of the band carry dependences, or
  /// one does and a read does not use the iterator of a loop without dependences.
  bool reuses = false;

  /// Returns the loop of the band that carries no dependence, if there is exactly one.
  std::optional<size_t> LoneCoincident() const;
  bool InBand(size_t loop) const { return loop >= band_begin && loop < band_end; }
};

/// Returns the plan of the statement. Returns nothing for a statement without loops. A row that
/// skews cannot produce is replaced by one of its iterators, or omitted.
std::optional<BandPlan> PlanBand(const AffineSchedule& proposed, const Compute& compute,
                                 const Statement& statement, StatementId id);

}  // namespace tunec
