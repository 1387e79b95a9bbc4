// What is known of one task's candidates so far.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "autotune/search/search_space.h"
#include "db/records.h"

namespace tunec {

struct Tried {
  std::optional<Candidate> candidate;  // none: its schedule is not one of the space's any more
  std::string schedule;
  TrialStatus status = TrialStatus::kOk;
  double seconds = 0;  // when ok
};

class History {
 public:
  void Add(Tried tried);

  bool Seen(const std::string& schedule) const { return seen_.contains(schedule); }
  size_t size() const { return tried_.size(); }
  bool AnyOk() const { return best_.has_value(); }
  /// Seconds of the fastest correct one.
  std::optional<double> Best() const;
  /// Its schedule, of the space or not; of equal ones the smaller text. Empty: there is none.
  std::string BestSchedule() const;
  /// How many were added since one was at least 1 % faster than all before.
  int Stale() const { return stale_; }
  /// Counts anew: the space has changed, what was in vain in the old one says nothing.
  void ForgetStaleness() { stale_ = 0; }
  /// The correct candidates of the space, the fastest first; of equal ones the smaller text.
  std::vector<Tried> Ranked() const;
  /// Whether the sketch has been tried and its best is over four times slower than the best of
  /// all: it is not drawn from any more.
  bool IsHopeless(int sketch) const;
  /// Replaces the time of a candidate that was timed again.
  void SetSeconds(const std::string& schedule, double seconds);

 private:
  void LetCompete(size_t index);

  std::vector<Tried> tried_;
  std::set<std::string> seen_;
  std::optional<size_t> best_;  // of the tried: correct, and none before it in the order of Ranked
  int stale_ = 0;
};

}  // namespace tunec
