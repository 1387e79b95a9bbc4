// The proposal of isl's scheduler as plain data: a tree of bands, sequences and leaves. The rows of
// a band are affine in the iterators of the statements. The proposal is a hint for schedules. No
// code assumes that the proposal is legal; the resulting schedule is checked (legality.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/dependences.h"

namespace tunec {

/// Policy for statements that could have separate loops. kSeparate gives each statement separate
/// loops, and kShared allows isl to form shared loops.
enum class StatementFusion : uint8_t { kSeparate, kShared };

/// An affine function of a statement's iterators.
struct AffineRow {
  std::vector<int64_t> coefficients;  // one per iterator
  int64_t constant = 0;
  bool operator==(const AffineRow&) const = default;
};

/// One loop of a band. `rows` has the loop's value for each statement inside.
struct AffineLoop {
  bool coincident = false;  // the loop carries no dependence
  std::map<StatementId, AffineRow> rows;
};

struct AffineSchedule {
  enum class Kind : uint8_t {
    kBand,      // loops, outermost first, around one child
    kSequence,  // children in order
    kLeaf,      // instances in any order
  };
  Kind kind = Kind::kLeaf;
  std::vector<StatementId> statements;  // all statements below, ascending
  std::vector<AffineLoop> loops;        // kBand
  bool permutable = false;  // kBand: no dependence has a negative component over its loops
  std::vector<AffineSchedule> children;
};

/// Returns isl's schedule of the statements, with leaves for parts that are not affine. The
/// schedule respects all dependences, also the dependences of a reduction on itself. Fails with
/// kResourceLimit if isl needs more than its quota of operations.
Result<AffineSchedule> ProposeSchedule(const Dependences& dependences, StatementFusion fusion);

/// Returns the schedule as indented text, for tests. A loop of a band is a line such as
/// `- x: t; y: t + i coincident`.
std::string Print(const AffineSchedule& schedule, const Statements& statements);

}  // namespace tunec
