#include "db/tables/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "db/records.h"
#include "db/tables/codec.h"
#include "db/tables/older_schedules.h"
#include "db/tables/rows.h"
#include "db/tables/sketch_names.h"
#include "support/hash.h"
#include "support/statistics.h"

namespace tunec {
namespace {

constexpr const char* kVersion1 = R"sql(
CREATE TABLE workloads (
  id          INTEGER PRIMARY KEY,
  hash        TEXT NOT NULL,
  text        TEXT NOT NULL,
  kind        TEXT NOT NULL,
  description TEXT NOT NULL,
  flops       REAL NOT NULL,
  bytes       REAL NOT NULL
) STRICT;
CREATE INDEX workloads_by_hash ON workloads(hash);
CREATE INDEX workloads_by_kind ON workloads(kind);

CREATE TABLE targets (
  id   INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX targets_by_hash ON targets(hash);

CREATE TABLE tasks (
  id               INTEGER PRIMARY KEY,
  workload         INTEGER NOT NULL REFERENCES workloads(id),
  target           INTEGER NOT NULL REFERENCES targets(id),
  policy           TEXT NOT NULL,
  schedule_version INTEGER NOT NULL,
  converged        INTEGER NOT NULL DEFAULT 0,
  UNIQUE (workload, target, policy, schedule_version)
) STRICT;
CREATE INDEX tasks_by_target ON tasks(target);

CREATE TABLE trials (
  id             INTEGER PRIMARY KEY,
  task           INTEGER NOT NULL REFERENCES tasks(id),
  schedule_hash  TEXT NOT NULL,
  schedule       TEXT NOT NULL,
  status         INTEGER NOT NULL,
  median_seconds REAL,
  mad_seconds    REAL NOT NULL,
  samples        TEXT NOT NULL,
  accuracy_error REAL,
  message        TEXT NOT NULL,
  compile_ms     REAL NOT NULL,
  check_ms       REAL NOT NULL,
  measure_ms     REAL NOT NULL,
  note           TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  tool_version   TEXT NOT NULL
) STRICT;
CREATE INDEX trials_by_schedule ON trials(task, schedule_hash);
CREATE INDEX trials_by_speed ON trials(task, median_seconds, schedule_hash) WHERE status = 1;
CREATE INDEX trials_by_date ON trials(created_at);

CREATE TABLE artifacts (
  id          INTEGER PRIMARY KEY,
  key_hash    TEXT NOT NULL,
  key_text    TEXT NOT NULL,
  object      BLOB NOT NULL,
  object_hash TEXT NOT NULL,
  metadata    TEXT NOT NULL,
  created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX artifacts_by_key ON artifacts(key_hash);
CREATE INDEX artifacts_by_date ON artifacts(created_at);

CREATE TABLE machine (
  target     INTEGER NOT NULL REFERENCES targets(id),
  name       TEXT NOT NULL,
  value      REAL NOT NULL,
  text       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (target, name)
) STRICT, WITHOUT ROWID;

CREATE VIEW best AS
SELECT task, trial, median_seconds, schedule FROM (
  SELECT task, id AS trial, median_seconds, schedule,
         row_number() OVER (PARTITION BY task ORDER BY median_seconds, schedule_hash) AS place
  FROM trials WHERE status = 1)
WHERE place = 1;
)sql";

void CreateVersion1(SQLite::Database& sqlite) { sqlite.exec(kVersion1); }

// Deletes the compiled objects, and renames the column of their hash. The hash of version 1 covers
// only the object, so the metadata, which describes how to call the code, cannot be trusted.
void CoverWholeArtifacts(SQLite::Database& sqlite) {
  sqlite.exec(
      "DELETE FROM artifacts;"
      "ALTER TABLE artifacts RENAME COLUMN object_hash TO hash");
}

// Adds columns for the reason and bound of a convergence, and the table of charges.
void AddConvergenceAndCharges(SQLite::Database& sqlite) {
  sqlite.exec(R"sql(
ALTER TABLE tasks ADD COLUMN converged_by INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN converged_bound REAL NOT NULL DEFAULT 0;
CREATE TABLE charges (
  model  TEXT NOT NULL,
  task   INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  trials INTEGER NOT NULL,
  PRIMARY KEY (model, task)
) STRICT, WITHOUT ROWID;
CREATE INDEX charges_by_task ON charges(task);
)sql");
}

// Deletes trials with a wrong result, and marks their tasks as not converged. An earlier checker
// ignored the discontinuities of round, casts to integers and comparisons, and rejected reordered
// additions.
void ForgetWrongResults(SQLite::Database& sqlite) {
  sqlite.exec(
      "UPDATE tasks SET converged = 0 WHERE id IN (SELECT task FROM trials WHERE status = 2);"
      "DELETE FROM trials WHERE status = 2");
}

// Gives sketches of register tiles in notes names that do not depend on other sketches.
void NameSketches(SQLite::Database& sqlite) {
  SQLite::Statement trials(
      sqlite, "SELECT id, note, schedule FROM trials WHERE note LIKE 'sketch=%/tile%'");
  std::map<int64_t, std::string> notes;
  while (trials.executeStep()) {
    notes[trials.getColumn(0).getInt64()] =
        WithNamedSketch(trials.getColumn(1).getString(), trials.getColumn(2).getString());
  }
  SQLite::Statement update(sqlite, "UPDATE trials SET note = ? WHERE id = ?");
  for (const auto& [id, note] : notes) {
    update.bind(1, note);
    update.bind(2, id);
    update.exec();
    update.reset();
  }
}

std::map<int64_t, std::string> Texts(SQLite::Statement&& rows) {
  std::map<int64_t, std::string> texts;
  while (rows.executeStep()) texts[rows.getColumn(0).getInt64()] = rows.getColumn(1).getString();
  return texts;
}

// Converts schedules of version 1 of their language to version 2, which states how copies are made.
// Compiled objects are found by the text of their schedule, so all are deleted.
void SpellOutCopies(SQLite::Database& sqlite) {
  const std::map<int64_t, std::string> workloads =
      Texts({sqlite,
             "SELECT tasks.id, workloads.text FROM tasks "
             "JOIN workloads ON workloads.id = tasks.workload WHERE schedule_version = 1"});
  SQLite::Statement update(sqlite,
                           "UPDATE trials SET schedule = ?, schedule_hash = ? WHERE id = ?");
  for (const auto& [task, workload] : workloads) {
    SQLite::Statement trials(sqlite, "SELECT id, schedule FROM trials WHERE task = ?");
    trials.bind(1, task);
    for (const auto& [id, schedule] : Texts(std::move(trials))) {
      const std::string spelled = WithStorageOrders(schedule, workload);
      if (spelled == schedule) continue;
      update.bind(1, spelled);
      update.bind(2, StableHash(spelled));
      update.bind(3, id);
      update.exec();
      update.reset();
    }
  }
  sqlite.exec(
      "UPDATE tasks SET schedule_version = 2 WHERE schedule_version = 1;"
      "DELETE FROM artifacts");
}

// Adds the owner of compiled objects. The owner's key makes the hash of an object. The owner of
// older objects is unknown, so these objects are deleted.
void SealArtifacts(SQLite::Database& sqlite) {
  sqlite.exec(R"sql(
DELETE FROM artifacts;
ALTER TABLE artifacts ADD COLUMN owner TEXT NOT NULL DEFAULT '';
DROP INDEX artifacts_by_key;
CREATE INDEX artifacts_by_key ON artifacts(key_hash, owner);
)sql");
}

// Adds the choice of a trial for each task. Moves the ok trials with a changed median to tasks of
// seeds, and sets the median of the samples. The times of such a trial are from several sessions,
// and the changed median may be below each of them. Tasks that lose a trial are not converged any
// more.
void SeparateMixedTimes(SQLite::Database& sqlite) {
  sqlite.exec(R"sql(
ALTER TABLE tasks ADD COLUMN chosen INTEGER NOT NULL DEFAULT 0;
DROP VIEW best;
CREATE VIEW best AS
SELECT task, trial, median_seconds, schedule FROM (
  SELECT trials.task, trials.id AS trial, median_seconds, schedule,
         row_number() OVER (PARTITION BY trials.task
                            ORDER BY trials.id != tasks.chosen, median_seconds, schedule_hash)
           AS place
  FROM trials JOIN tasks ON tasks.id = trials.task WHERE status = 1)
WHERE place = 1;
)sql");
  struct Mixed {
    int64_t id = 0, task = 0;
    double median = 0;
  };
  std::vector<Mixed> mixed;
  SQLite::Statement trials(sqlite,
                           "SELECT id, task, median_seconds, samples FROM trials WHERE status = 1");
  while (trials.executeStep()) {
    TrialRecord trial{.median_seconds = trials.getColumn(2).getDouble()};
    trial.samples = DecodeSamples(trials.getColumn(3).getString()).value_or(std::vector<double>());
    if (!HasMixedTimes(trial) || Median(trial.samples) <= 0) continue;
    mixed.push_back(
        {trials.getColumn(0).getInt64(), trials.getColumn(1).getInt64(), Median(trial.samples)});
  }
  SQLite::Statement seeds(sqlite,
                          "INSERT INTO tasks(workload, target, policy, schedule_version) "
                          "SELECT workload, target, policy || ?1, schedule_version FROM tasks "
                          "WHERE id = ?2 ON CONFLICT DO NOTHING");
  SQLite::Statement move(
      sqlite,
      "UPDATE trials SET median_seconds = ?1, task = (SELECT other.id FROM tasks, tasks AS other "
      "WHERE tasks.id = ?2 AND other.workload = tasks.workload AND other.target = tasks.target "
      "AND other.policy = tasks.policy || ?3 AND other.schedule_version = tasks.schedule_version) "
      "WHERE id = ?4");
  SQLite::Statement reopen(sqlite, "UPDATE tasks SET converged = 0 WHERE id = ?");
  for (const Mixed& row : mixed) {
    seeds.bind(1, std::string(kSeedsClause));
    seeds.bind(2, row.task);
    move.bind(1, row.median);
    move.bind(2, row.task);
    move.bind(3, std::string(kSeedsClause));
    move.bind(4, row.id);
    reopen.bind(1, row.task);
    for (SQLite::Statement* statement : {&seeds, &move, &reopen}) {
      statement->exec();
      statement->reset();
    }
  }
}

// The migrations, in order of versions. ForgetWrongResults is repeated for each correction of the
// checker's tolerances. From schema 7 on, the checker tolerates reordered additions of rounded
// operands; from schema 8 on, also reordered float32 additions, and rounded operands that are sums.
constexpr Migration kMigrations[] = {
    CreateVersion1, CoverWholeArtifacts, AddConvergenceAndCharges, ForgetWrongResults,
    NameSketches,   SpellOutCopies,      ForgetWrongResults,       ForgetWrongResults,
    SealArtifacts,  SeparateMixedTimes};

int64_t Number(SQLite::Database& sqlite, const char* sql) {
  return sqlite.execAndGet(sql).getInt64();
}

using Columns = std::set<std::string>;  // names and types

std::map<std::string, Columns> ColumnsOfTables(SQLite::Database& sqlite) {
  SQLite::Statement query(sqlite,
                          "SELECT tables.name, columns.name || ' ' || columns.type "
                          "FROM sqlite_schema AS tables "
                          "JOIN pragma_table_info(tables.name) AS columns "
                          "WHERE tables.type = 'table'");
  std::map<std::string, Columns> tables;
  while (query.executeStep()) {
    tables[query.getColumn(0).getString()].insert(query.getColumn(1).getString());
  }
  return tables;
}

/// Returns kParse if `sqlite` lacks a table, or a column of the same type, that the migrations
/// `applied` make. Also returns kParse if `sqlite` has tables although `applied` is empty.
Status CheckTables(SQLite::Database& sqlite, const std::string& path,
                   std::span<const Migration> applied) {
  SQLite::Database sound(":memory:", SQLite::OPEN_READWRITE);
  for (const Migration migration : applied) migration(sound);
  const std::map<std::string, Columns> found = ColumnsOfTables(sqlite);
  if (applied.empty() && !found.empty()) {
    return Fail(ErrorCode::kParse, "{}: damaged: it has tables, but its schema is 0", path);
  }
  for (const auto& [table, columns] : ColumnsOfTables(sound)) {
    const auto there = found.find(table);
    if (there == found.end()) {
      return Fail(ErrorCode::kParse, "{}: damaged: table '{}' is missing", path, table);
    }
    for (const std::string& column : columns) {
      if (there->second.contains(column)) continue;
      return Fail(ErrorCode::kParse, "{}: damaged: table '{}' lacks the column '{}'", path, table,
                  column);
    }
  }
  return {};
}

Status CheckVersion(int64_t version, int64_t supported, const std::string& path) {
  if (version > supported) return std::unexpected(NewerDatabase(path, version, supported));
  if (version >= 0) return {};
  return Fail(ErrorCode::kParse, "{}: damaged: schema {}, expected 0 to {}", path, version,
              supported);
}

Status ClaimIfEmpty(SQLite::Database& sqlite, const std::string& path) {
  const int64_t id = Number(sqlite, "PRAGMA application_id");
  if (id == kApplicationId) return {};
  if (id != 0 || Number(sqlite, "SELECT count(*) FROM sqlite_schema") != 0) {
    return std::unexpected(ForeignDatabase(path, id));
  }
  sqlite.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  return {};
}

// Returns the numbers of rows that a migration may drop or move; zeros for a file without tables.
MigrationCounts CountRows(SQLite::Database& sqlite) {
  if (!sqlite.tableExists("artifacts")) return {};
  return {.dropped_objects = Number(sqlite, "SELECT count(*) FROM artifacts"),
          .seeds = Number(sqlite,
                          "SELECT count(*) FROM trials JOIN tasks ON tasks.id = trials.task "
                          "WHERE tasks.policy LIKE '%; seeds'"),
          .reopened = Number(sqlite, "SELECT count(*) FROM tasks WHERE converged != 0")};
}

Result<MigrationCounts> ApplyMissing(SQLite::Database& sqlite, const std::string& path,
                                     std::span<const Migration> migrations) {
  TUNEC_RETURN_IF_ERROR(ClaimIfEmpty(sqlite, path));
  const int64_t supported = static_cast<int64_t>(migrations.size());
  const int64_t version = Number(sqlite, "PRAGMA user_version");
  TUNEC_RETURN_IF_ERROR(CheckVersion(version, supported, path));
  TUNEC_RETURN_IF_ERROR(CheckTables(sqlite, path, migrations.first(static_cast<size_t>(version))));
  const MigrationCounts before = CountRows(sqlite);
  for (int64_t i = version; i < supported; ++i) migrations[i](sqlite);
  sqlite.exec(fmt::format("PRAGMA user_version = {}", supported));
  const MigrationCounts after = CountRows(sqlite);
  return MigrationCounts{.dropped_objects = before.dropped_objects - after.dropped_objects,
                         .seeds = after.seeds - before.seeds,
                         .reopened = before.reopened - after.reopened};
}

bool IsAt(SQLite::Database& sqlite, size_t version) {
  return Number(sqlite, "PRAGMA application_id") == kApplicationId &&
         Number(sqlite, "PRAGMA user_version") == static_cast<int64_t>(version);
}

}  // namespace

std::span<const Migration> Migrations() { return kMigrations; }

int SchemaVersion() { return static_cast<int>(std::size(kMigrations)); }

Result<MigrationCounts> Migrate(SQLite::Database& sqlite, const std::string& path,
                                std::span<const Migration> migrations) {
  // Without this check, opening a current file would wait while another connection writes.
  if (IsAt(sqlite, migrations.size())) return MigrationCounts{};
  SQLite::Transaction transaction(sqlite, SQLite::TransactionBehavior::IMMEDIATE);
  TUNEC_ASSIGN(const MigrationCounts counts, ApplyMissing(sqlite, path, migrations));
  transaction.commit();
  return counts;
}

Status CheckSchema(SQLite::Database& sqlite, const std::string& path) {
  const int64_t version = Number(sqlite, "PRAGMA user_version");
  TUNEC_RETURN_IF_ERROR(CheckVersion(version, SchemaVersion(), path));
  return CheckTables(sqlite, path, Migrations().first(static_cast<size_t>(version)));
}

bool HasCurrentSchema(SQLite::Database& sqlite) { return IsAt(sqlite, Migrations().size()); }

Error ForeignDatabase(const std::string& path, int64_t application_id) {
  return MakeError(ErrorCode::kInvalidArgument,
                   "{}: belongs to another program (application id {:#x}, expected {:#x}): "
                   "left as it is",
                   path, static_cast<uint32_t>(application_id),
                   static_cast<uint32_t>(kApplicationId));
}

Error NewerDatabase(const std::string& path, int64_t version, int64_t supported) {
  return MakeError(ErrorCode::kUnsupported,
                   "{}: schema {} was written by a newer tunec, expected at most {}", path, version,
                   supported);
}

}  // namespace tunec
