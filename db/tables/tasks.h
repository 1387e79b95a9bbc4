// Selects the tuning keys that match a filter. Throws SQLite::Exception, so it is called only
// inside DatabaseConnection::Read and Write.
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

/// Returns the keys in the order of kind, workload text, target, policy, schedule version.
std::vector<TaskRow> SelectTasks(DatabaseConnection& connection, const TaskFilter& filter);
/// Returns the keys without the damaged ones, and stores a miss reason in `connection` for each
/// damaged key.
std::vector<TaskRow> SelectIntactTasks(DatabaseConnection& connection, const TaskFilter& filter);

}  // namespace tunec
