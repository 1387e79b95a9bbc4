// The plain structs that enter and leave the tuning database. Only text, numbers and
// bytes: whoever records a schedule prints it first, whoever reads one parses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tunec {

/// What became of one candidate. Stored by number: never renumber.
enum class TrialStatus {
  kOk = 1,            // checked and timed
  kWrongResult = 2,   // ran, but its output failed the check
  kCompileError = 3,  // code generation refused it
  kCrashed = 4,       // the worker died on it
  kTimedOut = 5,      // stopped by the watchdog
  kOutOfMemory = 6,   // asked for more memory than allowed
  kIllegal = 7,       // the dependences forbid it; message names the violated one
};

/// `ok`, `wrong result`, `compile error`, `crashed`, `timed out`, `out of memory`, `illegal`.
std::string_view TrialStatusName(TrialStatus status);

/// A computation to tune. Identified by `text` alone (the canonical text of the group's
/// default lowering); the rest describes it and follows the latest caller.
struct WorkloadKey {
  std::string text;
  std::string kind;         // `matmul`, `conv2d`, ...: what neighbours are sought by
  std::string description;  // one line for people
  double flops = 0;         // useful arithmetic operations of one run
  double bytes = 0;         // compulsory traffic of one run
  bool operator==(const WorkloadKey&) const = default;
};

/// What a tuned schedule holds for. Two keys are one when workload.text, target, policy
/// and schedule_version agree.
struct TuningKey {
  WorkloadKey workload;
  std::string target;        // features, cache sizes, threads, accuracy contract
  std::string policy;        // how times were measured: warm or cold, repeats, clocks; or predicted
  int schedule_version = 1;  // of the schedule language
  bool operator==(const TuningKey&) const = default;
};

/// One measured candidate.
struct TrialRecord {
  int64_t id = 0;  // of its row; given by the database, ignored when recording
  TrialStatus status = TrialStatus::kOk;
  std::string schedule;                  // its text; unique within a tuning key
  double median_seconds = 0;             // > 0 when ok, stored as NULL otherwise
  double mad_seconds = 0;                // median absolute deviation of the samples
  std::vector<double> samples;           // raw times in seconds, in the order measured
  std::optional<double> accuracy_error;  // e of the accuracy contract, where it was checked
  std::string message;                   // why it failed; when ok, what its assembler warned of
  double compile_ms = 0;
  double check_ms = 0;
  double measure_ms = 0;
  std::string note;          // state of the search: seed, strategy, parent
  int64_t created_at = 0;    // unix seconds; 0 when recording means now
  std::string tool_version;  // of the tunec that measured it
  bool operator==(const TrialRecord&) const = default;
};

/// Why a search stopped although trials were left. Stored by number: never renumber.
enum class ConvergenceReason {
  kUnknown = 0,    // recorded before reasons were
  kExhausted = 1,  // every candidate of the space has its trial
  kStale = 2,      // too many trials in a row without gain; the bound is their number
  kCeiling = 3,    // close to the machine's ceiling; the bound is that, operations per second
};

/// That more trials of a task in a search space would not help.
struct Convergence {
  int64_t space = 0;  // the caller's number of the search space, > 0
  ConvergenceReason reason = ConvergenceReason::kUnknown;
  double bound = 0;  // what it was judged by
  bool operator==(const Convergence&) const = default;
};

/// What RecordTrial did with a record.
enum class RecordOutcome {
  kAdded,     // the schedule was new for this key
  kReplaced,  // the schedule was there; this record knows more
  kKept,      // the schedule was there with a record that knows more or the same
};

/// A compiled object and what is needed to load it without compiling.
struct Artifact {
  std::string object;    // bytes
  std::string metadata;  // JSON text
  int64_t created_at = 0;
  bool operator==(const Artifact&) const = default;
};

/// A property of a machine that is measured once per target: a peak, a bandwidth.
struct MachineFact {
  std::string name;        // `peak_flops`, `dram_bytes_per_second`, ...
  double value = 0;        // in the unit its name says; finite
  std::string text;        // how it was measured
  int64_t created_at = 0;  // unix seconds; 0 when recording means now
  bool operator==(const MachineFact&) const = default;
};

/// The fields that are set must all match.
struct TaskFilter {
  std::string kind;              // equal to the workload's
  std::string target;            // equal to the target text
  std::string policy;            // equal to the policy text
  std::string description_part;  // contained in the workload's description
  int schedule_version = 0;      // 0: any
  int64_t limit = 0;             // at most so many tuning keys; 0: all
};

/// One tuning key at a glance.
struct TaskSummary {
  TuningKey key;
  int64_t trials = 0;  // failures included
  int64_t ok = 0;
  std::optional<TrialRecord> best;
  std::optional<Convergence> converged;
  int64_t latest_at = 0;  // created_at of the newest trial
};

/// A key under which some of the workloads in question have correct trials.
struct KeyUse {
  std::string target;
  std::string policy;
  int schedule_version = 0;
  int64_t workloads = 0;  // of those in question
  int64_t trials = 0;     // of these, failures included
  bool operator==(const KeyUse&) const = default;
};

/// One tuning key and all its trials, in the order of their ids.
struct TaskTrials {
  TuningKey key;
  std::vector<TrialRecord> trials;
};

/// A tuned workload whose best schedule may seed a similar one.
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
  std::vector<TargetStats> targets;  // in the order of their texts
};

/// What an import or a merge changed; facts and artifacts count alike.
struct ExchangeCounts {
  int64_t added = 0;
  int64_t replaced = 0;
  int64_t kept = 0;
  bool operator==(const ExchangeCounts&) const = default;
};

/// Which trials go: those created before the date (all, without one), except the fastest
/// `keep_best` of each tuning key. Artifacts go only by date.
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
