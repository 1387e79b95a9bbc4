#include "db/tables/rows.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "db/tables/codec.h"
#include "db/tables/text.h"
#include "db/tables/validate.h"
#include "support/hash.h"
#include "support/statistics.h"

namespace tunec {
namespace {

/// Returns the first column of the first row, if any.
std::optional<int64_t> FirstInteger(Query&& query) {
  if (!query.Step()) return std::nullopt;
  return query.Integer(0);
}

/// Returns the first column of the first row. Throws if the row is missing, which only a damaged
/// index can cause.
int64_t OnlyInteger(Query&& query) {
  const std::optional<int64_t> value = FirstInteger(std::move(query));
  if (!value) throw SQLite::Exception("a row that was written is missing", SQLITE_CORRUPT);
  return *value;
}

struct WorkloadRow {
  int64_t id = 0;
  WorkloadKey workload;
};

std::optional<WorkloadRow> FindWorkload(DatabaseConnection& connection, const std::string& text) {
  Query query(connection,
              "SELECT id, kind, description, flops, bytes FROM workloads "
              "WHERE hash = ? AND text = ?",
              StableHash(text), text);
  if (!query.Step()) return std::nullopt;
  return WorkloadRow{query.Integer(0),
                     {text, query.Text(1), query.Text(2), query.Real(3), query.Real(4)}};
}

int64_t InsertWorkload(DatabaseConnection& connection, const WorkloadKey& workload) {
  return OnlyInteger(Query(connection,
                           "INSERT INTO workloads(hash, text, kind, description, flops, bytes) "
                           "VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
                           StableHash(workload.text), workload.text, workload.kind,
                           workload.description, workload.flops, workload.bytes));
}

void UpdateWorkload(DatabaseConnection& connection, int64_t id, const WorkloadKey& workload) {
  Query(connection,
        "UPDATE workloads SET kind = ?, description = ?, flops = ?, bytes = ? WHERE id = ?",
        workload.kind, workload.description, workload.flops, workload.bytes, id)
      .Run();
}

auto Description(const WorkloadKey& workload) {
  return std::tie(workload.kind, workload.flops, workload.bytes, workload.description);
}

/// Returns the weight of a status in Supersedes. A schedule with a wrong result must not be used
/// again; any other failure may have been an accident of the machine.
int Weight(TrialStatus status) {
  switch (status) {
    case TrialStatus::kWrongResult:
      return 2;
    case TrialStatus::kOk:
      return 1;
    default:
      return 0;
  }
}

struct StoredTrial {
  int64_t id = 0;
  std::optional<TrialRecord> trial;  // none: the row is damaged
};

std::optional<StoredTrial> FindStored(DatabaseConnection& connection, int64_t task,
                                      const std::string& schedule) {
  Query query(connection,
              "SELECT " TUNEC_TRIAL_COLUMNS
              " FROM trials WHERE task = ? AND schedule_hash = ? AND schedule = ?",
              task, StableHash(schedule), schedule);
  if (!query.Step()) return std::nullopt;
  return StoredTrial{query.Integer(0), ReadTrial(connection, query)};
}

std::optional<double> StoredMedian(const TrialRecord& trial) {
  if (trial.status != TrialStatus::kOk) return std::nullopt;
  return trial.median_seconds;
}

void InsertTrial(DatabaseConnection& connection, int64_t task, const TrialRecord& trial) {
  Query(connection,
        "INSERT INTO trials(task, schedule_hash, schedule, status, median_seconds, mad_seconds, "
        "samples, accuracy_error, message, compile_ms, check_ms, measure_ms, note, created_at, "
        "tool_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        task, StableHash(trial.schedule), trial.schedule, std::to_underlying(trial.status),
        StoredMedian(trial), trial.mad_seconds, EncodeSamples(trial.samples), trial.accuracy_error,
        trial.message, trial.compile_ms, trial.check_ms, trial.measure_ms, trial.note,
        trial.created_at, trial.tool_version)
      .Run();
}

void UpdateTrial(DatabaseConnection& connection, int64_t id, const TrialRecord& trial) {
  Query(connection,
        "UPDATE trials SET status = ?, median_seconds = ?, mad_seconds = ?, samples = ?, "
        "accuracy_error = ?, message = ?, compile_ms = ?, check_ms = ?, measure_ms = ?, note = ?, "
        "created_at = ?, tool_version = ? WHERE id = ?",
        std::to_underlying(trial.status), StoredMedian(trial), trial.mad_seconds,
        EncodeSamples(trial.samples), trial.accuracy_error, trial.message, trial.compile_ms,
        trial.check_ms, trial.measure_ms, trial.note, trial.created_at, trial.tool_version, id)
      .Run();
}

}  // namespace

std::optional<int64_t> FindTarget(DatabaseConnection& connection, const std::string& text) {
  return FirstInteger(Query(connection, "SELECT id FROM targets WHERE hash = ? AND text = ?",
                            StableHash(text), text));
}

std::optional<int64_t> FindTask(DatabaseConnection& connection, const TuningKey& key) {
  return FirstInteger(
      Query(connection,
            "SELECT tasks.id FROM tasks JOIN workloads ON workloads.id = tasks.workload "
            "JOIN targets ON targets.id = tasks.target "
            "WHERE workloads.hash = ? AND workloads.text = ? AND targets.hash = ? "
            "AND targets.text = ? AND tasks.policy = ? AND tasks.schedule_version = ?",
            StableHash(key.workload.text), key.workload.text, StableHash(key.target), key.target,
            key.policy, key.schedule_version));
}

int64_t EnsureWorkload(DatabaseConnection& connection, const WorkloadKey& workload) {
  const std::optional<WorkloadRow> row = FindWorkload(connection, workload.text);
  if (!row) return InsertWorkload(connection, workload);
  if (row->workload != workload) UpdateWorkload(connection, row->id, workload);
  return row->id;
}

int64_t EnsureMergedWorkload(DatabaseConnection& connection, const WorkloadKey& workload) {
  const std::optional<WorkloadRow> row = FindWorkload(connection, workload.text);
  if (!row) return InsertWorkload(connection, workload);
  if (Description(row->workload) < Description(workload)) {
    UpdateWorkload(connection, row->id, workload);
  }
  return row->id;
}

int64_t EnsureTarget(DatabaseConnection& connection, const std::string& text) {
  if (const auto id = FindTarget(connection, text)) return *id;
  return OnlyInteger(Query(connection, "INSERT INTO targets(hash, text) VALUES (?, ?) RETURNING id",
                           StableHash(text), text));
}

int64_t EnsureTask(DatabaseConnection& connection, int64_t workload, int64_t target,
                   const std::string& policy, int schedule_version) {
  Query(connection,
        "INSERT INTO tasks(workload, target, policy, schedule_version) VALUES (?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        workload, target, policy, schedule_version)
      .Run();
  return OnlyInteger(Query(connection,
                           "SELECT id FROM tasks WHERE workload = ? AND target = ? "
                           "AND policy = ? AND schedule_version = ?",
                           workload, target, policy, schedule_version));
}

int64_t EnsureTask(DatabaseConnection& connection, const TuningKey& key) {
  const int64_t workload = EnsureWorkload(connection, key.workload);
  const int64_t target = EnsureTarget(connection, key.target);
  return EnsureTask(connection, workload, target, key.policy, key.schedule_version);
}

std::optional<Convergence> ReadConvergence(const Query& row, int column) {
  if (row.Integer(column) <= 0) return std::nullopt;
  const int64_t number = row.Integer(column + 1);
  const bool known = number > 0 && number <= std::to_underlying(ConvergenceReason::kCeiling);
  return Convergence{row.Integer(column),
                     static_cast<ConvergenceReason>(known ? static_cast<int>(number) : 0),
                     row.Real(column + 2)};
}

void AddCharge(DatabaseConnection& connection, const std::string& model, int64_t task,
               int64_t trials) {
  Query(connection,
        "INSERT INTO charges(model, task, trials) VALUES (?, ?, ?) "
        "ON CONFLICT(model, task) DO UPDATE SET trials = trials + excluded.trials",
        model, task, trials)
      .Run();
}

Result<TrialRecord> DecodeTrial(const Query& row) {
  TrialRecord trial;
  trial.id = row.Integer(0);
  trial.status = static_cast<TrialStatus>(row.Integer(1));
  trial.schedule = row.Text(2);
  trial.median_seconds = row.Real(3);  // 0 for NULL
  trial.mad_seconds = row.Real(4);
  std::optional<std::vector<double>> samples = DecodeSamples(row.Text(5));
  if (!row.IsNull(6)) trial.accuracy_error = row.Real(6);
  trial.message = row.Text(7);
  trial.compile_ms = row.Real(8);
  trial.check_ms = row.Real(9);
  trial.measure_ms = row.Real(10);
  trial.note = row.Text(11);
  trial.created_at = row.Integer(12);
  trial.tool_version = row.Text(13);
  TUNEC_RETURN_IF_ERROR(Validate(trial));
  if (!samples) return Fail(ErrorCode::kParse, "samples are not a list of numbers");
  // Normalised would change a creation time of 0 and the median of a failure. So an exported row
  // would be imported as a different trial.
  if (trial.created_at == 0) return Fail(ErrorCode::kParse, "creation time is 0");
  if (trial.status != TrialStatus::kOk && trial.median_seconds != 0)
    return Fail(ErrorCode::kParse, "a trial that is not ok has a median");
  trial.samples = std::move(*samples);
  return trial;
}

std::optional<TrialRecord> ReadTrial(DatabaseConnection& connection, const Query& row) {
  Result<TrialRecord> trial = DecodeTrial(row);
  if (trial) return std::move(*trial);
  connection.NoteMiss(fmt::format("{}: trial {} passed over: {}", connection.path(), row.Integer(0),
                                  trial.error().message));
  return std::nullopt;
}

int64_t EnsureSeedsTask(DatabaseConnection& connection, int64_t task) {
  Query row(connection, "SELECT workload, target, policy, schedule_version FROM tasks WHERE id = ?",
            task);
  row.Step();
  return EnsureTask(connection, row.Integer(0), row.Integer(1), SeedsPolicy(row.Text(2)),
                    static_cast<int>(row.Integer(3)));
}

bool HasMixedTimes(const TrialRecord& trial) {
  constexpr double kRounding = 1e-9;
  if (trial.status != TrialStatus::kOk || trial.samples.empty()) return false;
  return std::abs(trial.median_seconds / Median(trial.samples) - 1) > kRounding;
}

void ChooseTrial(DatabaseConnection& connection, int64_t task, int64_t trial) {
  Query(connection, "UPDATE tasks SET chosen = ? WHERE id = ?", trial, task).Run();
}

std::optional<TrialRecord> ChosenTrial(DatabaseConnection& connection, int64_t task) {
  Query query(connection,
              "SELECT " TUNEC_TRIAL_COLUMNS
              " FROM trials JOIN tasks ON tasks.id = trials.task AND tasks.chosen = trials.id "
              "WHERE tasks.id = ? AND status = 1",
              task);
  return query.Step() ? ReadTrial(connection, query) : std::nullopt;
}

std::optional<TrialRecord> BestTrial(DatabaseConnection& connection, int64_t task) {
  if (auto chosen = ChosenTrial(connection, task)) return chosen;
  Query query(connection,
              "SELECT " TUNEC_TRIAL_COLUMNS
              " FROM trials WHERE task = ? AND status = 1 ORDER BY median_seconds, schedule_hash",
              task);
  while (query.Step()) {
    if (auto trial = ReadTrial(connection, query)) return trial;
  }
  return std::nullopt;
}

std::vector<TrialRecord> TrialsOfTask(DatabaseConnection& connection, int64_t task) {
  Query query(connection, "SELECT " TUNEC_TRIAL_COLUMNS " FROM trials WHERE task = ? ORDER BY id",
              task);
  std::vector<TrialRecord> trials;
  while (query.Step()) {
    if (auto trial = ReadTrial(connection, query)) trials.push_back(std::move(*trial));
  }
  return trials;
}

std::optional<TrialRecord> FindTrial(DatabaseConnection& connection, int64_t task,
                                     const std::string& schedule) {
  const std::optional<StoredTrial> stored = FindStored(connection, task, schedule);
  return stored ? stored->trial : std::nullopt;
}

Result<MachineFact> DecodeFact(const Query& row, int first) {
  MachineFact fact{row.Text(first), row.Real(first + 1), row.Text(first + 2),
                   row.Integer(first + 3)};
  TUNEC_RETURN_IF_ERROR(Validate(fact));
  return fact;
}

std::optional<MachineFact> ReadFact(DatabaseConnection& connection, const Query& row, int first) {
  Result<MachineFact> fact = DecodeFact(row, first);
  if (fact) return std::move(*fact);
  connection.NoteMiss(fmt::format("{}: fact '{}' passed over: {}", connection.path(),
                                  MakeStorable(row.Text(first)), fact.error().message));
  return std::nullopt;
}

bool Supersedes(const TrialRecord& a, const TrialRecord& b) {
  const auto worth = [](const TrialRecord& trial) {
    return std::tuple(Weight(trial.status), trial.created_at, trial.samples.size());
  };
  if (worth(a) != worth(b)) return worth(a) > worth(b);
  const auto content = [](const TrialRecord& trial) { return EncodeLine(TrialLine{0, trial}); };
  return content(a) > content(b);
}

RecordOutcome UpsertTrial(DatabaseConnection& connection, int64_t task, const TrialRecord& trial) {
  const std::optional<StoredTrial> stored = FindStored(connection, task, trial.schedule);
  if (!stored) {
    InsertTrial(connection, task, trial);
    return RecordOutcome::kAdded;
  }
  if (stored->trial && !Supersedes(trial, *stored->trial)) return RecordOutcome::kUnchanged;
  UpdateTrial(connection, stored->id, trial);
  return RecordOutcome::kReplaced;
}

RecordOutcome UpsertFact(DatabaseConnection& connection, int64_t target, const MachineFact& fact) {
  Query query(connection,
              "SELECT created_at, value, text FROM machine WHERE target = ? AND name = ?", target,
              fact.name);
  const bool stored = query.Step();
  if (stored && std::tuple(query.Integer(0), query.Real(1), query.Text(2)) >=
                    std::tie(fact.created_at, fact.value, fact.text)) {
    return RecordOutcome::kUnchanged;
  }
  Query(connection,
        "INSERT INTO machine(target, name, value, text, created_at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT(target, name) DO UPDATE SET value = excluded.value, text = excluded.text, "
        "created_at = excluded.created_at",
        target, fact.name, fact.value, fact.text, fact.created_at)
      .Run();
  return stored ? RecordOutcome::kReplaced : RecordOutcome::kAdded;
}

}  // namespace tunec
