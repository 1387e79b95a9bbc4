// Storage of the object code of a task's fastest candidates. The database gets the code that was
// checked and timed, so that models run exactly this code.
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
  /// Requires: the task, target and accuracy outlive this object.
  BestCode(const TuningTask& task, const Target& target, const Accuracy& accuracy)
      : task_(task), target_(target), accuracy_(accuracy) {}

  /// Adds the code of a correct candidate. If the candidate is the fastest so far, its code is
  /// stored in the database at once, so that it survives an interruption. Errors: of the database
  /// and of ParseSchedule.
  Status Add(Database& database, const std::string& schedule, double seconds, Artifact code);
  /// Stores the code of the schedule that was finally the best, and drops the code stored for
  /// earlier winners. A schedule may have no code here, such as one measured by another process or
  /// in an earlier run. Unless its code is stored already, a model compiles it.
  Status StoreBest(Database& database, const std::string& schedule);

 private:
  struct CachedCandidate {
    std::string schedule;
    double seconds = 0;
    Artifact code;
  };
  Result<std::string> KeyOf(const std::string& schedule) const;
  Status Store(Database& database, const CachedCandidate& retained);

  const TuningTask& task_;
  const Target& target_;
  const Accuracy& accuracy_;
  std::vector<CachedCandidate> cached_;  // sorted, the fastest first
  std::set<std::string> stored_;         // artifact keys that are stored
};

}  // namespace tunec
