// All candidates of one task: the sketches that fit its lowerings, and their decisions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/sketch.h"

namespace tunec {

struct Candidate {
  int sketch = 0;  // position in the space
  Decisions decisions;
  std::string schedule;  // the text that these decisions fill in
  std::string origin;    // which strategy proposed it
};

/// Pure: no measuring, no legality. The naive sketch comes last and is the last resort only.
class SearchSpace {
 public:
  explicit SearchSpace(std::vector<Sketch> sketches);

  const std::vector<Sketch>& sketches() const { return sketches_; }
  int Naive() const { return static_cast<int>(sketches_.size()) - 1; }
  /// The sketches that are searched: all but the naive one, unless that is the only one.
  int Searched() const { return Naive() == 0 ? 1 : Naive(); }
  /// How many decisions the searched sketches have together (saturating).
  int64_t Size() const;
  /// A number > 0 that tells this space from others: of the sketches, their knobs and choices.
  /// A search that converged is taken up again when it changes.
  int64_t Fingerprint() const;

  Candidate At(int sketch, Decisions decisions) const;
  Candidate Initial(int sketch) const;

  /// `sketch=direct/tile/j rows=14 columns=32`: what a trial's note keeps of a candidate.
  std::string Describe(const Candidate& candidate) const;
  /// The candidate that was described so, when it still fills in that very schedule.
  std::optional<Candidate> Recall(std::string_view note, const std::string& schedule) const;
  /// The candidate of a sketch of that name whose values are nearest to those in a note of
  /// another task; knobs that the note lacks are as they are initially.
  std::optional<Candidate> Transfer(std::string_view note) const;

 private:
  std::string NumberedName(int sketch) const;

  std::vector<Sketch> sketches_;
  std::vector<std::string> lowerings_;  // of the sketches
  std::vector<std::string> names_;      // unique: lowering/name
};

}  // namespace tunec
