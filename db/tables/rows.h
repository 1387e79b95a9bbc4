// Finding, reading and writing single rows: what recording, asking, importing and merging
// have in common. Throws SQLite::Exception: only inside DatabaseConnection::Read and Write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/records.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/query.h"

namespace tunec {

std::optional<int64_t> FindTarget(DatabaseConnection& connection, const std::string& text);
std::optional<int64_t> FindTask(DatabaseConnection& connection, const TuningKey& key);

/// The row of a workload; one that is there takes over what the caller says about it.
int64_t EnsureWorkload(DatabaseConnection& connection, const WorkloadKey& workload);
/// The row of a workload; where two descriptions differ, the greater one stays.
int64_t EnsureMergedWorkload(DatabaseConnection& connection, const WorkloadKey& workload);
int64_t EnsureTarget(DatabaseConnection& connection, const std::string& text);
int64_t EnsureTask(DatabaseConnection& connection, int64_t workload, int64_t target,
                   const std::string& policy, int schedule_version);
int64_t EnsureTask(DatabaseConnection& connection, const TuningKey& key);

/// The convergence in three columns of the current row, from `column` on; none for a space of 0. A
/// reason of a later tunec is unknown.
std::optional<Convergence> ReadConvergence(const Query& row, int column);

/// Charges `trials` more of a task to a model.
void AddCharge(DatabaseConnection& connection, const std::string& model, int64_t task,
               int64_t trials);

/// The columns that ReadTrial expects first in a row, from a table called trials.
#define TUNEC_TRIAL_COLUMNS                                                     \
  "trials.id, trials.status, trials.schedule, trials.median_seconds, "          \
  "trials.mad_seconds, trials.samples, trials.accuracy_error, trials.message, " \
  "trials.compile_ms, trials.check_ms, trials.measure_ms, trials.note, "        \
  "trials.created_at, trials.tool_version"

/// The trial in the current row; kParse or kInvalidArgument when it is damaged.
Result<TrialRecord> DecodeTrial(const Query& row);
/// The same; without a trial, a reason has been left with `connection`.
std::optional<TrialRecord> ReadTrial(DatabaseConnection& connection, const Query& row);
/// The ok trial with the smallest median.
std::optional<TrialRecord> BestTrial(DatabaseConnection& connection, int64_t task);
/// All decodable trials of a task in the order of their ids.
std::vector<TrialRecord> TrialsOfTask(DatabaseConnection& connection, int64_t task);
/// The record of one schedule.
std::optional<TrialRecord> FindTrial(DatabaseConnection& connection, int64_t task,
                                     const std::string& schedule);

/// The columns that ReadFact expects, from a table called machine.
#define TUNEC_FACT_COLUMNS "machine.name, machine.value, machine.text, machine.created_at"

/// The fact in the columns of the current row from `first` on; kInvalidArgument when damaged.
Result<MachineFact> DecodeFact(const Query& row, int first);
/// The same; without a fact, a reason has been left with `connection`.
std::optional<MachineFact> ReadFact(DatabaseConnection& connection, const Query& row, int first);

/// Whether `a` should take the place of `b`, a record of the same schedule. A total order on
/// contents, so that merging is the same whichever way round.
bool KnowsMore(const TrialRecord& a, const TrialRecord& b);
/// Records `trial`, which is valid and normalised, unless the one there knows more.
RecordOutcome UpsertTrial(DatabaseConnection& connection, int64_t task, const TrialRecord& trial);
/// Records `fact` unless the one there is later.
RecordOutcome UpsertFact(DatabaseConnection& connection, int64_t target, const MachineFact& fact);

}  // namespace tunec
