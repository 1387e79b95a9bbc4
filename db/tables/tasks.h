// Functions that select the tuning keys that match a filter. They throw SQLite::Exception, so they
// are called only inside DatabaseConnection::Read and Write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/records.h"
#include "db/sqlite/connection.h"

namespace tunec {

struct TaskRow {
  int64_t id = 0;
  TuningKey key;
  std::optional<Convergence> converged;
  std::string damage;  // reason why the key must not be used; empty: usable
};

/// Returns the keys that match the filter, up to its limit, in the order of kind, workload text,
/// target, policy and schedule version. Damaged keys have `damage` set.
std::vector<TaskRow> SelectTasks(DatabaseConnection& connection, const TaskFilter& filter);
/// Returns the undamaged keys of SelectTasks, and stores a miss reason in `connection` for each
/// damaged key.
std::vector<TaskRow> SelectIntactTasks(DatabaseConnection& connection, const TaskFilter& filter);

}  // namespace tunec
