// A model's budget of trials, and the part that is spent. The database stores the spent part as
// charges: a charge is the number of trials of one task that count for the model. Trials that
// another model records later for a shared task are not charged. So the other model cannot use up
// the budget that this model's other tasks need.
//
//   - The first charge of a model covers the trials that its tasks already have. The charge of each
//     task is at most the task's fair share of the budget.
//
//   - Every trial of the model is charged when it is added.
//   - A charge counts at most as the number of the task's recorded trials.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// Returns an identifier of the set of a model's tuning keys; the order of `keys` does not matter.
std::string ModelIdentity(const std::vector<TuningKey>& keys);

/// Returns the initial charge of each task of a model: the number of its trials in `recorded`, but
/// at most its share of `budget`. If the budget does not divide evenly, the tasks with the fewest
/// trials have the larger shares.
std::vector<int64_t> FairCharges(const std::vector<int64_t>& recorded, int64_t budget);

/// The budget of one model. Several processes may tune the same model at once: Refresh also reads
/// the charges of the other processes.
class TrialBudget {
 public:
  TrialBudget(Database& database, std::vector<TuningKey> keys, int64_t trials);

  /// Charges the model for existing trials if the model was never charged, and reads the charges.
  /// `recorded` has the number of trials of each key.
  Status Load(const std::vector<int64_t>& recorded);
  /// Grants the full number of trials again, independent of the trials spent.
  void Renew() { limit_ = spent_ + trials_; }
  /// Reads the charges from the database again.
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
