// The members of Database that remove rows, compact the file and check the content.
#include "db/database.h"
#include "db/printable.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/query.h"
#include "db/tables/rows.h"
#include "db/tables/stored_artifact.h"
#include "db/tables/tasks.h"
#include "db/tables/validate.h"
#include "support/hash.h"

namespace tunec {
namespace {

constexpr const char* kPruneTrials =
    "DELETE FROM trials WHERE (?1 IS NULL OR created_at < ?1) AND id NOT IN ("
    "SELECT id FROM (SELECT trials.id AS id, row_number() OVER ("
    "PARTITION BY task ORDER BY trials.id != tasks.chosen, median_seconds, schedule_hash) AS place "
    "FROM trials JOIN tasks ON tasks.id = trials.task WHERE status = 1) WHERE place <= ?2)";

using Problems = std::vector<std::string>;

void CheckPages(DatabaseConnection& connection, Problems& problems) {
  Query pages(connection, "PRAGMA integrity_check");
  while (pages.Step()) {
    if (pages.Text(0) != "ok") problems.push_back(pages.Text(0));
  }
  Query references(connection, "PRAGMA foreign_key_check");
  while (references.Step()) {
    problems.push_back(fmt::format("table {} row {} refers to a row of {} that is missing",
                                   references.Text(0), references.Integer(1), references.Text(2)));
  }
}

/// Checks stored hashes. Each row has an id, a text and the hash stored for the text.
void CheckHashes(const char* what, Query&& rows, Problems& problems) {
  while (rows.Step()) {
    if (StableHash(rows.Text(1)) == rows.Text(2)) continue;
    problems.push_back(fmt::format("{} {}: its hash does not match", what, rows.Integer(0)));
  }
}

/// Reports repeated rows. Each row of `rows` has a number of equal stored rows, and their text.
void CheckRepeated(const char* what, Query&& rows, Problems& problems) {
  while (rows.Step()) {
    problems.push_back(fmt::format("{} stored {} times: {}", what, rows.Integer(0), rows.Text(1)));
  }
}

void CheckRows(DatabaseConnection& connection, Problems& problems) {
  CheckHashes("workload", Query(connection, "SELECT id, text, hash FROM workloads"), problems);
  CheckHashes("target", Query(connection, "SELECT id, text, hash FROM targets"), problems);
  CheckHashes("schedule of trial",
              Query(connection, "SELECT id, schedule, schedule_hash FROM trials"), problems);
  CheckRepeated(
      "workload",
      Query(connection, "SELECT count(*), text FROM workloads GROUP BY text HAVING count(*) > 1"),
      problems);
  CheckRepeated(
      "target",
      Query(connection, "SELECT count(*), text FROM targets GROUP BY text HAVING count(*) > 1"),
      problems);
  CheckRepeated("schedule",
                Query(connection,
                      "SELECT count(*), schedule FROM trials GROUP BY task, schedule "
                      "HAVING count(*) > 1"),
                problems);
}

/// Reports damaged tasks, trials, facts and charges, and artifacts that ReadArtifact finds damaged.
void CheckContents(DatabaseConnection& connection, Problems& problems) {
  for (const TaskRow& task : SelectTasks(connection, {})) {
    if (!task.damage.empty()) problems.push_back(fmt::format("task {}: {}", task.id, task.damage));
  }
  Query trials(connection, "SELECT " TUNEC_TRIAL_COLUMNS " FROM trials ORDER BY id");
  while (trials.Step()) {
    const Result<TrialRecord> trial = DecodeTrial(trials);
    if (trial) continue;
    problems.push_back(fmt::format("trial {}: {}", trials.Integer(0), trial.error().message));
  }
  Query facts(connection,
              "SELECT target, " TUNEC_FACT_COLUMNS " FROM machine ORDER BY target, name");
  while (facts.Step()) {
    const Result<MachineFact> fact = DecodeFact(facts, 1);
    if (fact) continue;
    problems.push_back(
        fmt::format("fact of target {}: {}", facts.Integer(0), fact.error().message));
  }
  Query charges(connection, "SELECT task, model, trials FROM charges ORDER BY task, model");
  while (charges.Step()) {
    const Status valid = ValidateCharge(charges.Text(1), charges.Integer(2));
    if (valid) continue;
    problems.push_back(
        fmt::format("charge of task {}: {}", charges.Integer(0), valid.error().message));
  }
  const ObjectKey* const key = connection.FindKey();
  Query artifacts(connection, "SELECT " TUNEC_ARTIFACT_COLUMNS " FROM artifacts ORDER BY id");
  while (artifacts.Step()) {
    const StoredArtifact stored = ReadArtifact(artifacts, key);
    if (stored.damage.empty()) continue;
    problems.push_back(fmt::format("artifact {}: {}", stored.id, stored.damage));
  }
}

/// Removes choices of removed trials, tasks without trials, and their charges, then workloads and
/// targets without references. Returns the number of removed tasks.
int64_t RemoveOrphans(DatabaseConnection& c) {
  // A later trial may get the id of a removed one.
  Query(c, "UPDATE tasks SET chosen = 0 WHERE chosen NOT IN (SELECT id FROM trials)").Run();
  const int64_t tasks =
      Query(c, "DELETE FROM tasks WHERE id NOT IN (SELECT task FROM trials)").Run();
  Query(c, "DELETE FROM workloads WHERE id NOT IN (SELECT workload FROM tasks)").Run();
  Query(c,
        "DELETE FROM targets WHERE id NOT IN (SELECT target FROM tasks) "
        "AND id NOT IN (SELECT target FROM machine)")
      .Run();
  return tasks;
}

}  // namespace

Result<PruneCounts> Database::Prune(const PrunePolicy& policy) {
  if (policy.keep_best < 0) {
    return Fail(ErrorCode::kInvalidArgument, "keep best {}, expected at least 0", policy.keep_best);
  }
  return connection_->Write([&]() -> Result<PruneCounts> {
    DatabaseConnection& c = *connection_;
    PruneCounts counts;
    counts.trials = Query(c, kPruneTrials, policy.created_before, policy.keep_best).Run();
    if (policy.created_before) {
      counts.artifacts =
          Query(c, "DELETE FROM artifacts WHERE created_at < ?", *policy.created_before).Run();
    }
    counts.tasks = RemoveOrphans(c);
    return counts;
  });
}

Result<PruneCounts> Database::Forget(const std::vector<std::string>& workload_texts) {
  return connection_->Write([&]() -> Result<PruneCounts> {
    DatabaseConnection& c = *connection_;
    PruneCounts counts;
    for (const std::string& text : workload_texts) {
      counts.trials += Query(c,
                             "DELETE FROM trials WHERE task IN (SELECT tasks.id FROM tasks "
                             "JOIN workloads ON workloads.id = tasks.workload "
                             "WHERE workloads.hash = ? AND workloads.text = ?)",
                             StableHash(text), text)
                           .Run();
    }
    counts.tasks = RemoveOrphans(c);
    return counts;
  });
}

Status Database::Compact() { return connection_->Vacuum(); }

Result<std::vector<std::string>> Database::IntegrityCheck() const {
  return connection_->Read([&]() -> Result<std::vector<std::string>> {
    Problems problems;
    CheckPages(*connection_, problems);
    if (problems.empty()) {
      CheckRows(*connection_, problems);
      CheckContents(*connection_, problems);
    }
    for (std::string& problem : problems) problem = Printable(problem);
    return problems;
  });
}

}  // namespace tunec
