// How much of its trials a model has spent. Kept in the database as charges: so many trials of a
// task count for that model. What another model records for a task that both have is not charged,
// so it cannot use up the budget that the model's other tasks need.
//
//   - A model seen for the first time is charged for what it finds: for each task at most its fair
//     share of the budget.
//   - Every trial that it adds is charged to it.
//   - A trial that is removed is not charged any more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// Stands for the set of a model's tuning keys, whatever their order.
std::string ModelIdentity(const std::vector<TuningKey>& keys);

/// What a model with so many recorded trials for each task is charged at first: at most the task's
/// share of `budget`. Where the shares are not equal, the tasks with the fewest trials have the
/// larger ones.
std::vector<int64_t> FairCharges(const std::vector<int64_t>& recorded, int64_t budget);

/// Several processes may tune the same model at once: what the others record counts as soon as
/// Refresh has seen it.
class TrialBudget {
 public:
  TrialBudget(Database& database, std::vector<TuningKey> keys, int64_t trials);

  /// `recorded`: the trials of each key. Charges a model that is new to the database.
  Status Load(const std::vector<int64_t>& recorded);
  /// Grants the whole number of trials anew, whatever is spent.
  void Renew() { limit_ = spent_ + trials_; }
  /// Reads again what is charged.
  Status Refresh();

  const std::string& model() const { return model_; }
  int64_t spent() const { return spent_; }
  int64_t limit() const { return limit_; }
  int64_t Left() const { return std::max<int64_t>(0, limit_ - spent_); }

 private:
  Database& database_;
  std::vector<TuningKey> keys_;
  std::string model_;
  int64_t trials_;
  int64_t limit_;
  int64_t spent_ = 0;
};

}  // namespace tunec
