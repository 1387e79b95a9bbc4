// Class History, which stores the results of the candidates that were tried for one task.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autotune/search/search_space.h"
#include "db/records.h"

namespace tunec {

struct TriedCandidate {
  std::optional<Candidate> candidate;  // none: the schedule is not in the search space any more
  std::string schedule;
  TrialStatus status = TrialStatus::kOk;
  double seconds = 0;  // valid if the status is ok
  double low = 0;      // lower end of the interval of `seconds`
};

class History {
 public:
  void Add(TriedCandidate tried);

  bool HasSeen(const std::string& schedule) const { return seen_.contains(schedule); }
  size_t size() const { return tried_.size(); }
  bool HasCorrect() const { return best_.has_value(); }
  /// Returns the seconds of a correct schedule; none if the schedule was not tried or is not
  /// correct.
  std::optional<double> SecondsOf(const std::string& schedule) const;
  /// Returns the seconds of the fastest correct schedule; none if no schedule is correct.
  std::optional<double> Best() const;
  /// Returns the text of the fastest correct schedule, which may be outside the search space. Among
  /// equal times the smaller text is returned. The result is empty if no schedule is correct.
  std::string BestSchedule() const;
  /// Returns the number of candidates added since the last gain. A gain is the first correct
  /// candidate, or one that is more than 1 % faster than all before.
  int CountStale() const { return stale_; }
  /// Returns the seconds that the later half of the candidates saved: the best time of the earlier
  /// half minus Best(). Returns none if there are fewer than eight candidates, or if none of the
  /// earlier half is correct.
  std::optional<double> SavedByLaterHalf() const;
  /// Sets CountStale() to 0. Earlier trials without gain then do not count any more. Called if the
  /// space has changed, and by TaskSearch::Reopen.
  void ForgetStaleness() { stale_ = 0; }
  /// Returns the correct candidates of the space, the fastest first; among equal times the smaller
  /// text goes first.
  std::vector<TriedCandidate> Ranked() const;
  /// Returns true if the sketch has a correct candidate and even its best takes more than four
  /// times as long as the fastest correct schedule. The random strategy skips such a sketch.
  bool IsHopeless(int sketch) const;
  /// Replaces the time of a candidate after timing it again.
  void SetSeconds(const std::string& schedule, double seconds);

 private:
  void CompareWithBest(size_t index);

  std::vector<TriedCandidate> tried_;
  std::set<std::string> seen_;
  std::optional<size_t> best_;  // index in tried_ of the fastest correct one; ties as in Ranked
  int stale_ = 0;
};

}  // namespace tunec
