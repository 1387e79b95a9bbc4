#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "db/exchange.h"
#include "db/tables/older_schedules.h"
#include "db/tables/rows.h"
#include "db/tables/sketch_names.h"
#include "db/tables/tasks.h"
#include "db/tables/validate.h"
#include "support/statistics.h"

namespace tunec {
namespace {

using Visit = std::function<Status(const ExchangeLine&)>;

/// Returns the error for a damaged target or task. The error stops the export or merge, because
/// other rows may refer to the damaged row. No row refers to a trial, fact or charge, so damaged
/// ones are skipped.
std::unexpected<Error> DamagedRow(const DatabaseConnection& connection, const char* what,
                                  int64_t id, const std::string& why) {
  return Fail(ErrorCode::kParse, "{}: {} {}: {}", connection.path(), what, id, why);
}

Status VisitFacts(DatabaseConnection& connection, const std::string& target, int64_t id,
                  const Visit& visit) {
  Query facts(connection,
              "SELECT " TUNEC_FACT_COLUMNS
              " FROM machine "
              "JOIN targets ON targets.id = machine.target WHERE targets.text = ? ORDER BY name",
              target);
  while (facts.Step()) {
    const std::optional<MachineFact> fact = ReadFact(connection, facts, 0);
    if (fact) TUNEC_RETURN_IF_ERROR(visit(FactLine{id, *fact}));
  }
  return {};
}

Status VisitTrials(DatabaseConnection& connection, int64_t row, int64_t id, const Visit& visit) {
  Query query(connection,
              "SELECT " TUNEC_TRIAL_COLUMNS
              ", trials.id = (SELECT chosen FROM tasks WHERE tasks.id = trials.task) "
              "FROM trials WHERE task = ? ORDER BY created_at, schedule",
              row);
  while (query.Step()) {
    std::optional<TrialRecord> trial = ReadTrial(connection, query);
    if (!trial) continue;
    trial->id = 0;
    TUNEC_RETURN_IF_ERROR(visit(TrialLine{id, std::move(*trial), query.Integer(14) != 0}));
  }
  return {};
}

Status VisitCharges(DatabaseConnection& connection, int64_t row, int64_t id, const Visit& visit) {
  Query query(connection, "SELECT model, trials FROM charges WHERE task = ? ORDER BY model", row);
  while (query.Step()) {
    const ChargeLine line{id, query.Text(0), query.Integer(1)};
    if (const Status valid = ValidateCharge(line.model, line.trials); !valid) {
      connection.NoteMiss(fmt::format("{}: a charge of task {} passed over: {}", connection.path(),
                                      row, valid.error().message));
      continue;
    }
    TUNEC_RETURN_IF_ERROR(visit(line));
  }
  return {};
}

TaskLine LineOf(const TaskRow& task, int64_t id, int64_t workload, int64_t target) {
  const Convergence converged = task.converged.value_or(Convergence{});
  return {.id = id,
          .workload = workload,
          .target = target,
          .policy = task.key.policy,
          .schedule_version = task.key.schedule_version,
          .converged = converged.space,
          .converged_by = std::to_underlying(converged.reason),
          .converged_bound = converged.bound};
}

/// Returns the id in this database for the id `id` of the export; kParse if `ids` lacks `id`.
Result<int64_t> Lookup(const std::map<int64_t, int64_t>& ids, const char* what, int64_t id) {
  const auto found = ids.find(id);
  if (found != ids.end()) return found->second;
  return Fail(ErrorCode::kParse, "{} {} is not defined in an earlier line", what, id);
}

}  // namespace

Status ForEachLine(DatabaseConnection& connection, const Visit& visit) {
  TUNEC_RETURN_IF_ERROR(visit(HeaderLine{kExchangeVersion}));
  std::map<std::string, int64_t> targets;
  Query texts(connection, "SELECT id, text FROM targets ORDER BY text");
  while (texts.Step()) {
    const int64_t id = static_cast<int64_t>(targets.size()) + 1;
    const std::string text = texts.Text(1);
    if (const Status valid = ValidateName("text", text); !valid) {
      return DamagedRow(connection, "target", texts.Integer(0), valid.error().message);
    }
    targets.emplace(text, id);
    TUNEC_RETURN_IF_ERROR(visit(TargetLine{id, text}));
    TUNEC_RETURN_IF_ERROR(VisitFacts(connection, text, id, visit));
  }
  int64_t workload_id = 0;
  int64_t task_id = 0;
  const WorkloadKey* previous = nullptr;
  const std::vector<TaskRow> tasks = SelectTasks(connection, {});
  for (const TaskRow& task : tasks) {
    const TuningKey& key = task.key;
    if (!task.damage.empty()) return DamagedRow(connection, "task", task.id, task.damage);
    if (previous == nullptr || previous->text != key.workload.text) {
      TUNEC_RETURN_IF_ERROR(visit(WorkloadLine{++workload_id, key.workload}));
    }
    previous = &key.workload;
    ++task_id;
    TUNEC_RETURN_IF_ERROR(visit(LineOf(task, task_id, workload_id, targets.at(key.target))));
    TUNEC_RETURN_IF_ERROR(VisitTrials(connection, task.id, task_id, visit));
    TUNEC_RETURN_IF_ERROR(VisitCharges(connection, task.id, task_id, visit));
  }
  return {};
}

Status LineImporter::Take(const ExchangeLine& line) {
  if (version_ == 0 && !std::holds_alternative<HeaderLine>(line)) {
    return Fail(ErrorCode::kParse, "the first record is not 'tunec_database'");
  }
  return std::visit([this](const auto& record) { return TakeLine(record); }, line);
}

Status LineImporter::TakeLine(const HeaderLine& line) {
  if (line.version < 1 || line.version > kExchangeVersion) {
    return Fail(ErrorCode::kUnsupported, "export version {}, expected at most {}", line.version,
                kExchangeVersion);
  }
  version_ = line.version;
  targets_.clear();
  workloads_.clear();
  tasks_.clear();
  workload_texts_.clear();
  older_.clear();
  return {};
}

Status LineImporter::TakeLine(const TargetLine& line) {
  TUNEC_RETURN_IF_ERROR(ValidateName("target text", line.text));
  targets_[line.id] = EnsureTarget(connection_, line.text);
  return {};
}

Status LineImporter::TakeLine(const FactLine& line) {
  TUNEC_ASSIGN(const int64_t target, Lookup(targets_, "target", line.target));
  TUNEC_RETURN_IF_ERROR(Validate(line.fact));
  if (times_ == TimesFrom::kThisMachine) Count(UpsertFact(connection_, target, line.fact));
  return {};
}

Status LineImporter::TakeLine(const WorkloadLine& line) {
  TUNEC_RETURN_IF_ERROR(Validate(line.workload));
  workloads_[line.id] = EnsureMergedWorkload(connection_, line.workload);
  workload_texts_[line.id] = line.workload.text;
  return {};
}

Status LineImporter::TakeLine(const TaskLine& line) {
  TUNEC_ASSIGN(const int64_t workload, Lookup(workloads_, "workload", line.workload));
  TUNEC_ASSIGN(const int64_t target, Lookup(targets_, "target", line.target));
  if (line.schedule_version < 1 || line.schedule_version > std::numeric_limits<int>::max()) {
    return Fail(ErrorCode::kInvalidArgument, "schedule version is {}, expected at least 1",
                line.schedule_version);
  }
  TUNEC_RETURN_IF_ERROR(ValidateText("policy text", line.policy));
  const bool older = version_ < 4 && line.schedule_version == 1;  // schedules are converted
  const bool comparable = times_ == TimesFrom::kThisMachine;
  const int64_t task =
      EnsureTask(connection_, workload, target, comparable ? line.policy : SeedsPolicy(line.policy),
                 older ? 2 : static_cast<int>(line.schedule_version));
  // The greater of two convergences is stored, so that the order of merging does not matter.
  if (comparable) {
    Query(connection_,
          "UPDATE tasks SET converged = ?1, converged_by = ?2, converged_bound = ?3 WHERE id = ?4 "
          "AND (converged, converged_by, converged_bound) < (?1, ?2, ?3)",
          line.converged, line.converged_by, line.converged_bound, task)
        .Run();
  }
  tasks_[line.id] = task;
  older_.erase(line.id);
  if (older) older_[line.id] = workload_texts_.at(line.workload);
  return {};
}

Status LineImporter::TakeLine(const TrialLine& line) {
  TUNEC_ASSIGN(int64_t task, Lookup(tasks_, "task", line.task));
  TrialRecord trial = Normalised(line.trial);
  if (version_ < 3) trial.note = WithNamedSketch(trial.note, trial.schedule);
  if (const auto older = older_.find(line.task); older != older_.end()) {
    trial.schedule = WithStorageOrders(trial.schedule, older->second);
  }
  const bool mixed = HasMixedTimes(trial);
  if (mixed) trial.median_seconds = Median(trial.samples);
  TUNEC_RETURN_IF_ERROR(Validate(trial));
  // In exports up to version 5, wrong results may be errors of an earlier checker. They are left
  // out, and the task counts as not converged.
  const bool left_out = version_ < 6 && trial.status == TrialStatus::kWrongResult;
  if (left_out || mixed)
    Query(connection_, "UPDATE tasks SET converged = 0 WHERE id = ?", task).Run();
  if (left_out) return {};
  if (mixed) task = EnsureSeedsTask(connection_, task);
  Count(UpsertTrial(connection_, task, trial));
  if (line.chosen && !mixed && times_ == TimesFrom::kThisMachine) TakeChoice(task, trial);
  return {};
}

// Chooses the trial, unless the task already has a later choice. So the order of merging does not
// matter.
void LineImporter::TakeChoice(int64_t task, const TrialRecord& trial) {
  const std::optional<TrialRecord> stored = FindTrial(connection_, task, trial.schedule);
  if (!stored || stored->status != TrialStatus::kOk) return;
  const std::optional<TrialRecord> chosen = ChosenTrial(connection_, task);
  const auto age = [](const TrialRecord& t) { return std::tie(t.created_at, t.schedule); };
  if (!chosen || age(*chosen) < age(*stored)) ChooseTrial(connection_, task, stored->id);
}

Status LineImporter::TakeLine(const ChargeLine& line) {
  TUNEC_ASSIGN(const int64_t task, Lookup(tasks_, "task", line.task));
  TUNEC_RETURN_IF_ERROR(ValidateCharge(line.model, line.trials));
  if (times_ == TimesFrom::kElsewhere) return {};
  Query(connection_,
        "INSERT INTO charges(model, task, trials) VALUES (?, ?, ?) "
        "ON CONFLICT(model, task) DO UPDATE SET trials = max(trials, excluded.trials)",
        line.model, task, line.trials)
      .Run();
  return {};
}

void LineImporter::Count(RecordOutcome outcome) {
  switch (outcome) {
    case RecordOutcome::kAdded:
      ++counts_.added;
      break;
    case RecordOutcome::kReplaced:
      ++counts_.replaced;
      break;
    case RecordOutcome::kUnchanged:
      ++counts_.unchanged;
      break;
  }
}

}  // namespace tunec
