// The tuning keys that match a filter. Throws SQLite::Exception: only inside
// DatabaseConnection::Read and Write.
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
  std::string damage;  // why the key must not be used; empty when it may
};

/// In the order of kind, workload text, target, policy, schedule version.
std::vector<TaskRow> SelectTasks(DatabaseConnection& connection, const TaskFilter& filter);
/// The same without the damaged ones, for each of which a reason has been left with `connection`.
std::vector<TaskRow> SelectSoundTasks(DatabaseConnection& connection, const TaskFilter& filter);

}  // namespace tunec
