// The object code of a task's fastest candidates: what was checked and timed is what is stored, and
// what a model runs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "autotune/accuracy.h"
#include "autotune/task.h"
#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

class BestCode {
 public:
  /// The task, target and accuracy must outlive it.
  BestCode(const TuningTask& task, const Target& target, const Accuracy& accuracy)
      : task_(task), target_(target), accuracy_(accuracy) {}

  /// Takes the code of a correct candidate, and stores it when it is the fastest so far: whoever
  /// ends the process now finds it. Errors: of the database.
  Status Add(Database& database, const std::string& schedule, double seconds, Artifact code);
  /// Stores the code of the schedule that turned out to be the best, and drops what was stored of
  /// those that were the fastest before it. One that was measured by another process, or long
  /// before, has no code here: it is compiled when it is needed.
  Status Settle(Database& database, const std::string& schedule);

 private:
  struct Kept {
    std::string schedule;
    double seconds = 0;
    Artifact code;
  };
  Result<std::string> KeyOf(const std::string& schedule) const;
  Status Store(Database& database, const Kept& kept);

  const TuningTask& task_;
  const Target& target_;
  const Accuracy& accuracy_;
  std::vector<Kept> kept_;        // the fastest first
  std::set<std::string> stored_;  // keys
};

}  // namespace tunec
