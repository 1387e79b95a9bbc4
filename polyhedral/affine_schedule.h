// What isl's scheduler proposes, as plain data: a tree of bands, whose rows are affine in the
// iterators of the statements, and of sequences. It is a hint for where schedules may begin.
// Nothing relies on its being legal, that is proven of what is made of it (legality.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/dependences.h"

namespace tunec {

/// Whether the loops of statements that need not share any are kept apart, or as many as possible
/// are shared.
enum class StatementFusion : uint8_t { kSeparate, kShared };

/// An affine function of a statement's iterators.
struct AffineRow {
  std::vector<int64_t> coefficients;  // one per iterator
  int64_t constant = 0;
  bool operator==(const AffineRow&) const = default;
};

/// One loop of a band: the value that it has for each statement inside.
struct AffineLoop {
  bool coincident = false;  // it carries no dependence
  std::map<StatementId, AffineRow> rows;
};

struct AffineSchedule {
  enum class Kind : uint8_t {
    kBand,      // loops, outermost first, around one child
    kSequence,  // children in order
    kLeaf,      // instances in any order
  };
  Kind kind = Kind::kLeaf;
  std::vector<StatementId> statements;  // below, ascending
  std::vector<AffineLoop> loops;        // kBand
  bool permutable = false;              // kBand: no dependence has a negative part over its loops
  std::vector<AffineSchedule> children;
};

/// What isl's own scheduler makes of the statements, whose every dependence holds (those of
/// reductions on themselves too). kResourceLimit beyond a quota that bounds it to milliseconds.
Result<AffineSchedule> ProposeSchedule(const Dependences& dependences, StatementFusion fusion);

/// `permutable band [t, t + i]` ... indented, one node a line, for people and tests.
std::string Print(const AffineSchedule& schedule, const Statements& statements);

}  // namespace tunec
