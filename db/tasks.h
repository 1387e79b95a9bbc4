// The tuning keys that match a filter. Throws SQLite::Exception: only inside
// DatabaseConnection::Read and Write.
#pragma once

#include <cstdint>
#include <vector>

#include "db/connection.h"
#include "db/records.h"

namespace tunec {

struct TaskRow {
  int64_t id = 0;
  TuningKey key;
  int64_t converged = 0;  // the search space's number
};

/// In the order of kind, workload text, target, policy, schedule version.
std::vector<TaskRow> SelectTasks(DatabaseConnection& connection, const TaskFilter& filter);

}  // namespace tunec
