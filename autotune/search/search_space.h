// The search space of one task. A candidate is a sketch of a lowering with a decision per knob.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/sketch.h"

namespace tunec {

struct Candidate {
  int sketch = 0;  // position in the space
  Decisions decisions;
  std::string schedule;  // text of the sketch filled with the decisions
  std::string origin;    // strategy that proposed the candidate
};

/// Returns the fields `name=value` of a trial's note. A name may contain blanks: the knob `t rows`
/// of a part of a sketch has the field `t rows=14`.
std::map<std::string, std::string> ParseNote(std::string_view note);

/// The set of a task's candidates, some of which may be illegal. The naive sketch is the last one.
/// It is not searched unless it is the only one.
class SearchSpace {
 public:
  explicit SearchSpace(std::vector<Sketch> sketches);

  const std::vector<Sketch>& sketches() const { return sketches_; }
  /// Returns the name of the sketch in notes, with the lowering: `direct/tile/j`.
  const std::string& NameOf(int sketch) const { return names_[sketch]; }
  int Naive() const { return static_cast<int>(sketches_.size()) - 1; }
  /// Returns the number of searched sketches: all but the naive one, unless it is the only one.
  int Searched() const { return Naive() == 0 ? 1 : Naive(); }
  /// Returns the number of candidates of all searched sketches together (saturating).
  int64_t Size() const;
  /// Returns a number > 0 that identifies this space. The number depends on the searched sketches,
  /// knobs, choices and analytic schedules. A converged search continues if the number has changed
  /// since the convergence.
  int64_t Fingerprint() const;

  Candidate At(int sketch, Decisions decisions) const;
  Candidate Initial(int sketch) const;

  /// Returns the description of a candidate in a trial's note: `sketch=direct/tile/j rows=14
  /// columns=32`.
  std::string Describe(const Candidate& candidate) const;
  /// Returns the candidate that Describe described in `note`, if its decisions still give exactly
  /// `schedule`. Returns none otherwise.
  std::optional<Candidate> Recall(std::string_view note, const std::string& schedule) const;
  /// Returns the candidate nearest to the one of `note`, also of another task: the sketch has the
  /// same name, and each knob the nearest value. Knobs that are not in the note have their initial
  /// values. Returns none if there is no such sketch.
  std::optional<Candidate> Transfer(std::string_view note) const;

 private:
  std::string NumberedName(int sketch) const;

  std::vector<Sketch> sketches_;
  std::vector<std::string> lowerings_;  // lowering of each sketch
  std::vector<std::string> names_;      // unique names: lowering/name
};

}  // namespace tunec
