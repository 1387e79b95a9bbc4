// Functions that find, read and write rows of the database. They may throw SQLite::Exception, so
// they are called only inside DatabaseConnection::Read and Write.
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

/// Returns the id of a workload's row, which is added if it is missing. An existing row gets the
/// caller's kind, description, flops and bytes.
int64_t EnsureWorkload(DatabaseConnection& connection, const WorkloadKey& workload);
/// Returns the id of a workload's row, which is added if it is missing. Of two different tuples
/// (kind, flops, bytes, description), the greater one is stored, so that the order of merging does
/// not matter.
int64_t EnsureMergedWorkload(DatabaseConnection& connection, const WorkloadKey& workload);
int64_t EnsureTarget(DatabaseConnection& connection, const std::string& text);
int64_t EnsureTask(DatabaseConnection& connection, int64_t workload, int64_t target,
                   const std::string& policy, int schedule_version);
int64_t EnsureTask(DatabaseConnection& connection, const TuningKey& key);

/// Returns the convergence in three columns of the current row, from `column` on; none if the space
/// is not positive. A reason that this version does not have becomes kUnknown.
std::optional<Convergence> ReadConvergence(const Query& row, int column);

/// Adds `trials` trials of a task to a model's charges.
void AddCharge(DatabaseConnection& connection, const std::string& model, int64_t task,
               int64_t trials);

/// Columns that ReadTrial expects first in a row, from a table called trials.
#define TUNEC_TRIAL_COLUMNS                                                     \
  "trials.id, trials.status, trials.schedule, trials.median_seconds, "          \
  "trials.mad_seconds, trials.samples, trials.accuracy_error, trials.message, " \
  "trials.compile_ms, trials.check_ms, trials.measure_ms, trials.note, "        \
  "trials.created_at, trials.tool_version"

/// Returns the trial in the current row; kParse or kInvalidArgument if the row is damaged.
Result<TrialRecord> DecodeTrial(const Query& row);
/// Returns the trial in the current row. If the row is damaged, returns none and stores the reason
/// as a miss of `connection`.
std::optional<TrialRecord> ReadTrial(DatabaseConnection& connection, const Query& row);
/// Returns the id of the task for trials of this task whose times must not be compared with others
/// (kSeedsClause). The task is added if it is missing.
int64_t EnsureSeedsTask(DatabaseConnection& connection, int64_t task);
/// Returns true if the median is not the median of the samples. Earlier versions changed medians
/// and mixed the samples of several sessions.
bool HasMixedTimes(const TrialRecord& trial);

/// Stores the id of the trial that is used for the task.
void ChooseTrial(DatabaseConnection& connection, int64_t task, int64_t trial);
/// Returns the chosen trial if it is decodable and ok.
std::optional<TrialRecord> ChosenTrial(DatabaseConnection& connection, int64_t task);
/// Returns the chosen trial, otherwise the decodable ok trial with the smallest median. Returns
/// none if the task has no such trial.
std::optional<TrialRecord> BestTrial(DatabaseConnection& connection, int64_t task);
/// Returns all decodable trials of a task in the order of their ids.
std::vector<TrialRecord> TrialsOfTask(DatabaseConnection& connection, int64_t task);
/// Returns the task's record of a schedule; none if the record is missing or damaged.
std::optional<TrialRecord> FindTrial(DatabaseConnection& connection, int64_t task,
                                     const std::string& schedule);

/// Columns that ReadFact expects, from a table called machine.
#define TUNEC_FACT_COLUMNS "machine.name, machine.value, machine.text, machine.created_at"

/// Returns the fact in the columns of the current row from `first` on; kInvalidArgument if the row
/// is damaged.
Result<MachineFact> DecodeFact(const Query& row, int first);
/// Returns the fact in the columns of the current row from `first` on. If the row is damaged,
/// returns none and stores the reason as a miss of `connection`.
std::optional<MachineFact> ReadFact(DatabaseConnection& connection, const Query& row, int first);

/// Returns whether `a` replaces `b`, a record of the same schedule. The relation is a total order
/// of contents, so that both directions of merging store the same record.
bool Supersedes(const TrialRecord& a, const TrialRecord& b);
/// Records `trial` if its schedule has no record or a damaged one, or `trial` supersedes the
/// record. Requires: `trial` is valid and normalised.
RecordOutcome UpsertTrial(DatabaseConnection& connection, int64_t task, const TrialRecord& trial);
/// Records `fact` if it is new or greater than the stored fact in the order of time, value, text.
RecordOutcome UpsertFact(DatabaseConnection& connection, int64_t target, const MachineFact& fact);

}  // namespace tunec
