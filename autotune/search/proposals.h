// A list of proposed candidates without repetition. Only the strategies use it.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "autotune/search/history.h"

namespace tunec {

class Proposals {
 public:
  Proposals(const History& history, int count) : history_(history), count_(count) {}

  bool IsFull() const { return static_cast<int>(list_.size()) >= count_; }
  /// Adds the candidate with this origin. Returns false, and adds nothing, if its schedule is in
  /// the history or in the list, or the list is full.
  bool Offer(Candidate candidate, const char* origin) {
    if (IsFull() || history_.HasSeen(candidate.schedule)) return false;
    if (!texts_.insert(candidate.schedule).second) return false;
    candidate.origin = origin;
    list_.push_back(std::move(candidate));
    return true;
  }
  std::vector<Candidate> Take() { return std::move(list_); }

 private:
  const History& history_;
  int count_;
  std::set<std::string> texts_;
  std::vector<Candidate> list_;
};

}  // namespace tunec
