// The members of Database that query many tuning keys, and the functions of db/tables/tasks.h.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <system_error>
#include <tuple>

#include "db/database.h"
#include "db/sqlite/query.h"
#include "db/tables/rows.h"
#include "db/tables/schema.h"
#include "db/tables/tasks.h"
#include "db/tables/validate.h"
#include "support/hash.h"

namespace tunec {
namespace {

TaskRow ReadTask(const Query& row) {
  TaskRow task;
  task.id = row.Integer(0);
  task.key.workload = {row.Text(1), row.Text(2), row.Text(3), row.Real(4), row.Real(5)};
  task.key.target = row.Text(6);
  task.key.policy = row.Text(7);
  const int64_t version = row.Integer(8);
  task.key.schedule_version =
      static_cast<int>(std::clamp<int64_t>(version, 0, std::numeric_limits<int>::max()));
  task.converged = ReadConvergence(row, 9);
  const int64_t space = row.Integer(9);
  if (const Status valid = Validate(task.key); !valid) {
    task.damage = valid.error().message;
  } else if (space < 0) {
    task.damage = fmt::format("search space is {}, expected at least 0", space);
  }
  return task;
}

TaskSummary Summarise(DatabaseConnection& connection, TaskRow task) {
  Query query(connection,
              "SELECT count(*), ifnull(sum(status = 1), 0), ifnull(max(created_at), 0) "
              "FROM trials WHERE task = ?",
              task.id);
  query.Step();
  TaskSummary summary;
  summary.key = std::move(task.key);
  summary.trials = query.Integer(0);
  summary.ok = query.Integer(1);
  summary.best = BestTrial(connection, task.id);
  summary.converged = task.converged;
  summary.latest_at = query.Integer(2);
  return summary;
}

std::vector<TargetStats> StatsOfTargets(DatabaseConnection& connection) {
  Query query(
      connection,
      "SELECT targets.text, count(DISTINCT tasks.id), count(trials.id), "
      "ifnull(sum(trials.status = 1), 0), ifnull(max(trials.created_at), 0) "
      "FROM targets LEFT JOIN tasks ON tasks.target = targets.id "
      "LEFT JOIN trials ON trials.task = tasks.id GROUP BY targets.id ORDER BY targets.text");
  std::vector<TargetStats> stats;
  while (query.Step()) {
    stats.push_back(
        {query.Text(0), query.Integer(1), query.Integer(2), query.Integer(3), query.Integer(4)});
  }
  return stats;
}

int64_t FileBytes(const std::string& path) {
  std::error_code error;
  int64_t bytes = 0;
  for (const std::string& name : {path, path + "-wal"}) {
    const auto size = std::filesystem::file_size(name, error);
    if (!error) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

}  // namespace

std::vector<TaskRow> SelectTasks(DatabaseConnection& connection, const TaskFilter& filter) {
  Query query(connection,
              "SELECT tasks.id, workloads.text, workloads.kind, workloads.description, "
              "workloads.flops, workloads.bytes, targets.text, tasks.policy, "
              "tasks.schedule_version, tasks.converged, tasks.converged_by, "
              "tasks.converged_bound "
              "FROM tasks JOIN workloads ON workloads.id = tasks.workload "
              "JOIN targets ON targets.id = tasks.target "
              "WHERE (?1 = '' OR workloads.kind = ?1) AND (?2 = '' OR targets.text = ?2) "
              "AND (?3 = '' OR tasks.policy = ?3) "
              "AND (?4 = '' OR instr(workloads.description, ?4) > 0) "
              "AND (?5 = 0 OR tasks.schedule_version = ?5) "
              "ORDER BY workloads.kind, workloads.text, targets.text, tasks.policy, "
              "tasks.schedule_version LIMIT iif(?6 = 0, -1, ?6)",
              filter.kind, filter.target, filter.policy, filter.description_part,
              filter.schedule_version, filter.limit);
  std::vector<TaskRow> tasks;
  while (query.Step()) tasks.push_back(ReadTask(query));
  return tasks;
}

std::vector<TaskRow> SelectIntactTasks(DatabaseConnection& connection, const TaskFilter& filter) {
  std::vector<TaskRow> tasks = SelectTasks(connection, filter);
  std::erase_if(tasks, [&](const TaskRow& task) {
    if (task.damage.empty()) return false;
    connection.NoteMiss(
        fmt::format("{}: task {} passed over: {}", connection.path(), task.id, task.damage));
    return true;
  });
  return tasks;
}

Result<std::vector<TaskSummary>> Database::List(const TaskFilter& filter) const {
  return connection_->Read([&]() -> Result<std::vector<TaskSummary>> {
    std::vector<TaskSummary> summaries;
    for (TaskRow& task : SelectIntactTasks(*connection_, filter)) {
      summaries.push_back(Summarise(*connection_, std::move(task)));
    }
    return summaries;
  });
}

Result<std::vector<TaskTrials>> Database::ListTrials(const TaskFilter& filter) const {
  return connection_->Read([&]() -> Result<std::vector<TaskTrials>> {
    std::vector<TaskTrials> tasks;
    for (TaskRow& task : SelectIntactTasks(*connection_, filter)) {
      tasks.push_back({std::move(task.key), TrialsOfTask(*connection_, task.id)});
    }
    return tasks;
  });
}

Result<std::vector<TunedWorkload>> Database::NearestWorkloads(const std::string& kind,
                                                              const std::string& target,
                                                              int schedule_version) const {
  TaskFilter filter;
  filter.kind = kind;
  filter.target = target;
  filter.schedule_version = schedule_version;
  return connection_->Read([&]() -> Result<std::vector<TunedWorkload>> {
    std::vector<TunedWorkload> workloads;
    for (TaskRow& task : SelectIntactTasks(*connection_, filter)) {
      std::optional<TrialRecord> best = BestTrial(*connection_, task.id);
      if (best) workloads.push_back({std::move(task.key), std::move(*best)});
    }
    return workloads;
  });
}

Result<std::vector<KeyUse>> Database::UsesOf(const std::vector<std::string>& workload_texts) const {
  return connection_->Read([&]() -> Result<std::vector<KeyUse>> {
    std::map<std::tuple<std::string, std::string, int>, KeyUse> uses;
    for (const std::string& text : workload_texts) {
      Query query(*connection_,
                  "SELECT targets.text, tasks.policy, tasks.schedule_version, count(*) "
                  "FROM workloads JOIN tasks ON tasks.workload = workloads.id "
                  "JOIN targets ON targets.id = tasks.target JOIN trials ON trials.task = tasks.id "
                  "WHERE workloads.hash = ? AND workloads.text = ? "
                  "GROUP BY tasks.id HAVING sum(trials.status = 1) > 0",
                  StableHash(text), text);
      while (query.Step()) {
        const int version = static_cast<int>(query.Integer(2));
        KeyUse& use = uses[{query.Text(0), query.Text(1), version}];
        use.target = query.Text(0);
        use.policy = query.Text(1);
        use.schedule_version = version;
        use.workloads += 1;
        use.trials += query.Integer(3);
      }
    }
    std::vector<KeyUse> listed;
    for (auto& [key, use] : uses) listed.push_back(std::move(use));
    std::ranges::stable_sort(listed, std::greater(), &KeyUse::workloads);
    return listed;
  });
}

Result<DatabaseStats> Database::Stats() const {
  return connection_->Read([&]() -> Result<DatabaseStats> {
    Query query(*connection_,
                "SELECT (SELECT count(*) FROM workloads), (SELECT count(*) FROM tasks), "
                "(SELECT count(*) FROM tasks WHERE converged != 0), (SELECT count(*) FROM trials), "
                "(SELECT count(*) FROM trials WHERE status = 1), (SELECT count(*) FROM artifacts), "
                "(SELECT ifnull(sum(length(object)), 0) FROM artifacts)");
    query.Step();
    DatabaseStats stats;
    stats.path = connection_->path();
    stats.schema_version = SchemaVersion();
    stats.file_bytes = connection_->in_memory() ? 0 : FileBytes(connection_->path());
    stats.workloads = query.Integer(0);
    stats.tasks = query.Integer(1);
    stats.converged = query.Integer(2);
    stats.trials = query.Integer(3);
    stats.ok = query.Integer(4);
    stats.artifacts = query.Integer(5);
    stats.artifact_bytes = query.Integer(6);
    stats.targets = StatsOfTargets(*connection_);
    return stats;
  });
}

}  // namespace tunec
