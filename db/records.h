// The plain types of the tuning database's interface. A schedule is only a text here, which the
// caller prints and parses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tunec {

/// The outcome of one candidate. The database stores the number, which must not change.
enum class TrialStatus {
  kOk = 1,            // checked and timed
  kWrongResult = 2,   // ran, but the output failed the check
  kCompileError = 3,  // rejected by code generation
  kCrashed = 4,       // ended the worker
  kTimedOut = 5,      // stopped by the watchdog
  kOutOfMemory = 6,   // exceeded the memory limit
  kIllegal = 7,       // violates a dependence, which the message names
};

/// Returns `ok`, `wrong result`, `compile error`, `crashed`, `timed out`, `out of memory` or
/// `illegal`; empty for any other number.
std::string_view TrialStatusName(TrialStatus status);
/// Returns the status with this TrialStatusName; none if there is no such status.
std::optional<TrialStatus> FindTrialStatus(std::string_view name);

/// A computation to tune. `text`, the canonical text of the group's default lowering, identifies
/// the computation. The other fields describe it; recording stores those of the latest caller.
struct WorkloadKey {
  std::string text;
  std::string kind;         // `matmul`, `conv2d`, ...; used to find similar workloads
  std::string description;  // one line for people
  double flops = 0;         // useful arithmetic operations of one run
  double bytes = 0;         // compulsory memory traffic of one run
  bool operator==(const WorkloadKey&) const = default;
};

/// A workload and the conditions under which its trials can be compared. The database identifies a
/// key by workload.text, target, policy and schedule_version; operator== compares all fields.
struct TuningKey {
  WorkloadKey workload;
  std::string target;        // features, cache sizes, threads, accuracy mode
  std::string policy;        // method of timing: warm or cold, repeats, clocks; or predicted
  int schedule_version = 1;  // version of the schedule language
  bool operator==(const TuningKey&) const = default;
};

/// The end of the policy of trials whose times must not be compared with times of this database:
/// they come from another database, or from several sessions. Their schedules are seeds of a
/// search.
inline constexpr std::string_view kSeedsClause = "; seeds";
/// Returns the policy with kSeedsClause at its end.
std::string SeedsPolicy(std::string_view policy);
/// Returns true if the key's trials are seeds.
bool HasSeeds(const TuningKey& key);

/// Returns the current time in unix seconds.
int64_t UnixNow();

/// One tried candidate, with its measured or predicted times or the reason of its failure.
struct TrialRecord {
  int64_t id = 0;  // id of the row; set by the database, ignored when recording
  TrialStatus status = TrialStatus::kOk;
  std::string schedule;                  // text of the schedule; unique within a tuning key
  double median_seconds = 0;             // > 0 when ok, stored as NULL otherwise
  double mad_seconds = 0;                // median absolute deviation of the samples
  std::vector<double> samples;           // times of one session in seconds, in the order measured
  std::optional<double> accuracy_error;  // error of the outputs, if checked
  std::string message;                   // reason of a failure; if ok, the assembler's warnings
  double compile_ms = 0;
  double check_ms = 0;
  double measure_ms = 0;
  std::string note;          // state of the search: seed, strategy, parent
  int64_t created_at = 0;    // unix seconds; 0 when recording means now
  std::string tool_version;  // version of tunec that measured the candidate
  bool operator==(const TrialRecord&) const = default;
};

/// The reason why a search ended although its budget was not spent. The database stores the number,
/// which must not change.
enum class ConvergenceReason {
  kUnknown = 0,    // recorded before reasons existed
  kExhausted = 1,  // every candidate of the space has a trial
  kStale = 2,      // too many trials without gain; the bound is their number
  kCeiling = 3,    // close to the ceiling; the bound is the ceiling in operations per second
};

/// The fact that a task's search has ended, because more trials in the space would hardly help.
struct Convergence {
  int64_t space = 0;  // caller's number of the search space, > 0
  ConvergenceReason reason = ConvergenceReason::kUnknown;
  double bound = 0;  // number that the reason refers to
  bool operator==(const Convergence&) const = default;
};

/// The effect of recording a trial, or of importing a trial or a machine fact.
enum class RecordOutcome {
  kAdded,      // the schedule was new for this key
  kReplaced,   // the old record had less information
  kUnchanged,  // the old record has more or the same information
};

/// A compiled object and the data for loading it without compilation.
struct Artifact {
  std::string object;    // bytes
  std::string metadata;  // JSON text
  int64_t created_at = 0;
  bool operator==(const Artifact&) const = default;
};

/// A measured property of a target, such as a peak or a bandwidth.
struct MachineFact {
  std::string name;        // `peak_flops`, `dram_bytes_per_second`, ...
  double value = 0;        // finite; the unit is part of the name
  std::string text;        // method of measuring
  int64_t created_at = 0;  // unix seconds; 0 when recording means now
  bool operator==(const MachineFact&) const = default;
};

/// A filter of tuning keys. All fields before `limit` that are neither empty nor 0 must match.
struct TaskFilter {
  std::string kind;              // equal to the workload's kind
  std::string target;            // equal to the target text
  std::string policy;            // equal to the policy text
  std::string description_part;  // contained in the workload's description
  int schedule_version = 0;      // 0: any
  int64_t limit = 0;             // maximum number of tuning keys; 0: unlimited
};

/// A tuning key with the numbers of its trials, the best trial and the convergence.
struct TaskSummary {
  TuningKey key;
  int64_t trials = 0;  // including failures
  int64_t ok = 0;
  std::optional<TrialRecord> best;
  std::optional<Convergence> converged;
  int64_t latest_at = 0;  // created_at of the newest trial
};

/// A target, policy and schedule version under which some of the queried workloads have ok trials.
struct KeyUse {
  std::string target;
  std::string policy;
  int schedule_version = 0;
  int64_t workloads = 0;  // number of the queried workloads that have ok trials
  int64_t trials = 0;     // trials of these workloads, including failures
  bool operator==(const KeyUse&) const = default;
};

/// One tuning key with its decodable trials, in the order of their ids.
struct TaskTrials {
  TuningKey key;
  std::vector<TrialRecord> trials;
};

/// A tuning key and its best trial, whose schedule may seed the search for a similar workload.
struct TunedWorkload {
  TuningKey key;
  TrialRecord best;
};

struct TargetStats {
  std::string target;
  int64_t tasks = 0;
  int64_t trials = 0;
  int64_t ok = 0;
  int64_t latest_at = 0;
};

struct DatabaseStats {
  std::string path;
  int schema_version = 0;
  int64_t file_bytes = 0;  // the file and its write-ahead log; 0 in memory
  int64_t workloads = 0;
  int64_t tasks = 0;
  int64_t converged = 0;
  int64_t trials = 0;
  int64_t ok = 0;
  int64_t artifacts = 0;
  int64_t artifact_bytes = 0;
  std::vector<TargetStats> targets;  // ordered by their texts
};

/// The numbers of trials and machine facts of an import or a merge, by RecordOutcome. Skipped ones
/// are not counted.
struct ExchangeCounts {
  int64_t added = 0;
  int64_t replaced = 0;
  int64_t unchanged = 0;
  bool operator==(const ExchangeCounts&) const = default;
};

/// The machine that measured the times of an imported or merged database. Times of another machine
/// are stored under policies that end with kSeedsClause; its facts, charges, convergences and
/// choices are not stored.
enum class TimesFrom { kElsewhere, kThisMachine };

/// The rule for removing trials and artifacts. Trials created before the date are removed (without
/// a date, all trials), except the chosen one and the fastest ok trials of each tuning key,
/// `keep_best` in all. Artifacts created before the date are removed; without a date, none are
/// removed.
struct PrunePolicy {
  std::optional<int64_t> created_before;  // unix seconds
  int64_t keep_best = 1;
};

struct PruneCounts {
  int64_t trials = 0;
  int64_t tasks = 0;
  int64_t artifacts = 0;
  bool operator==(const PruneCounts&) const = default;
};

}  // namespace tunec
