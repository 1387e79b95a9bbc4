// The tuning database: one SQLite file with the tried candidates, the compiled objects and the
// measured facts of machines. Several threads may share one Database, and several processes may
// share one file. docs/reference/database.md describes the file.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/records.h"
#include "support/error.h"

namespace tunec {

class DatabaseConnection;

/// The path of a database without a file. The content exists as long as the Database object.
inline constexpr const char* kInMemory = ":memory:";

enum class OpenMode {
  kReadWrite,  // creates the file and its folders, migrates an older schema
  kExisting,   // same as kReadWrite, but the file must exist
  kReadOnly,   // the file must exist; not written; an older schema is migrated in memory
};

/// Returns $XDG_CACHE_HOME/tunec/tunec.db if that variable is an absolute path, else
/// ~/.cache/tunec/tunec.db. Error: kNotFound if the user's home folder is not known either.
Result<std::string> DefaultDatabasePath();

/// The tuning database. Thread-safe: one mutex guards one connection. Moved-from objects may only
/// be destroyed or assigned to. Each write is one transaction: after an error the database is
/// unchanged.
///
/// Errors:
///   - kIo: cannot read or write, disk full, or locked by another connection for 10 s;
///   - kInvalidArgument: a directory or special file, another program's database, a write to a
///     database opened for reading only, or an invalid argument, such as text that is not UTF-8;
///   - kParse: not a database, not an export, or damaged;
///   - kUnsupported: written by a newer tunec;
///   - kNotFound: no file at the path;
///   - kResourceLimit: out of memory, or a text or object too big for SQLite.
class Database {
 public:
  /// Opens a database. `path` is a file name or kInMemory. A file of another program is rejected
  /// and not changed.
  static Result<Database> Open(const std::string& path, OpenMode mode);
  /// Opens a database whose compiled objects are marked with the key in `key_file`, instead of
  /// `object_key` in the user's cache folder. A missing key file is made when an object is stored.
  /// kInMemory ignores `key_file`.
  static Result<Database> Open(const std::string& path, OpenMode mode, const std::string& key_file);

  /// Copies the file at `path` into memory. The file is only read. New records exist as long as the
  /// returned object.
  static Result<Database> OpenCopy(const std::string& path);
  /// Lets the database continue in memory, without an error, if the file later is damaged or cannot
  /// be read or written. The content of an undamaged, readable file is copied into memory; else the
  /// database in memory is empty. `log` receives one line at that time, and one line if the file is
  /// removed or replaced. `log` is called within the other functions and must not call them. It is
  /// called only in the thread of this call; lines of other threads are stored for TakeMissReasons.
  void ContinueWithoutFile(std::function<void(const std::string&)> log);

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  const std::string& Path() const;

  // --- Trials (records.cc). A tuning key without records has no trials; this is not an error.

  /// Records one candidate. A record in a file then survives the death of this process. A schedule
  /// is stored once per key. The order of records is: a wrong result, a time, any other failure;
  /// then the later record; then more samples; then the greater export line. A schedule that is new
  /// for its key is charged to `model` if `model` is not empty.
  Result<RecordOutcome> RecordTrial(const TuningKey& key, const TrialRecord& trial,
                                    const std::string& model = "");
  /// Returns all trials of `key` in the order of their ids, except undecodable rows.
  Result<std::vector<TrialRecord>> Trials(const TuningKey& key) const;
  /// Returns the number of recorded trials of `key`, including failures and undecodable rows.
  Result<int64_t> CountTrials(const TuningKey& key) const;
  /// Returns the chosen trial if it is ok, otherwise the ok trial with the smallest median. If
  /// several trials have this median, returns the one whose schedule has the least hash. Returns
  /// none if no decodable trial is ok.
  Result<std::optional<TrialRecord>> Best(const TuningKey& key) const;
  /// Chooses the recorded trial of this schedule as the best of its key. Returns kNotFound if there
  /// is no such ok trial.
  Status Choose(const TuningKey& key, const std::string& schedule);
  /// Returns the schedule that Choose named last; none if there is no choice or its
  /// trial was removed.
  Result<std::optional<std::string>> Chosen(const TuningKey& key) const;
  /// Returns the record of exactly this schedule; none if it is missing or damaged.
  Result<std::optional<TrialRecord>> Find(const TuningKey& key, const std::string& schedule) const;
  /// Stores that more trials of `key` in the search space `convergence.space` would not help, and
  /// the reason with its bound. Replaces an earlier convergence of the key.
  Status SetConverged(const TuningKey& key, const Convergence& convergence);
  Status ClearConverged(const TuningKey& key);
  /// Returns the convergence that is stored for `key`, if any.
  Result<std::optional<Convergence>> Converged(const TuningKey& key) const;

  // --- Charges (charges.cc): numbers of trials of each task that count for the budget of a model.
  // `model` is the caller's text for the set of the model's keys.

  /// Returns the sum of the model's charges over all tasks. A charge that exceeds the number of the
  /// task's recorded trials counts as that number. Returns none if the model has no charges.
  Result<std::optional<int64_t>> Charged(const std::string& model) const;
  /// Charges `trials[i]` trials of `keys[i]` to `model`, unless the model already has charges.
  /// Skips keys that are not in the database.
  Status ChargeNewModel(const std::string& model, const std::vector<TuningKey>& keys,
                        const std::vector<int64_t>& trials);

  // --- Queries over many keys (queries.cc). Lists of tasks and workloads are in the order of kind,
  // workload text, target, policy, schedule version.

  Result<std::vector<TaskSummary>> List(const TaskFilter& filter) const;
  /// Returns the keys that List returns, each with the decodable trials in the order of ids.
  Result<std::vector<TaskTrials>> ListTrials(const TaskFilter& filter) const;
  /// Returns the keys of all workloads of one kind on one target, each with its fastest ok trial.
  /// Skips damaged keys, keys of other schedule versions and keys without an ok trial. The caller
  /// ranks the keys by distance.
  Result<std::vector<TunedWorkload>> NearestWorkloads(const std::string& kind,
                                                      const std::string& target,
                                                      int schedule_version) const;
  /// Returns each target, policy and schedule version under which workloads of these texts have ok
  /// trials. The ones with more workloads come first.
  Result<std::vector<KeyUse>> UsesOf(const std::vector<std::string>& workload_texts) const;
  Result<DatabaseStats> Stats() const;

  // --- Compiled objects and machine facts (artifacts.cc). Objects are programs, so the functions
  // find, replace and remove only objects stored with the user's key. If the key file cannot be
  // used or made, they store and find no objects, and TakeMissReasons returns the reason once.

  /// Stores or replaces the artifact of `key_text`. Returns kInvalidArgument if `key_text` is empty
  /// or metadata is not JSON.
  Status PutArtifact(const std::string& key_text, const Artifact& artifact);
  /// Removes the artifact of `key_text`, if it exists.
  Status DropArtifact(const std::string& key_text);
  /// Removes the user's oldest artifacts, until the objects of the others have at most
  /// `most_bytes`. Returns the number of removed artifacts.
  Result<int64_t> EvictArtifacts(int64_t most_bytes);
  /// Returns the artifact stored under exactly this key text; none if it is missing or its row is
  /// damaged. TakeMissReasons returns the reason for a damaged row.
  Result<std::optional<Artifact>> GetArtifact(const std::string& key_text) const;
  Status SetMachineFact(const std::string& target, const MachineFact& fact);
  Result<std::optional<MachineFact>> GetMachineFact(const std::string& target,
                                                    const std::string& name) const;
  /// Returns the undamaged facts of a target, ordered by name.
  Result<std::vector<MachineFact>> MachineFacts(const std::string& target) const;

  /// Returns and clears the reasons for missing results: a line each time a damaged row is skipped,
  /// a line for all objects that a migration dropped, and a line if the key file cannot be used or
  /// made. Also returns the lines of other threads (ContinueWithoutFile).
  std::vector<std::string> TakeMissReasons() const;

  // --- Exchange (exchange.cc).

  /// Writes targets, facts, keys, trials and charges as JSON lines. Their order depends only on the
  /// data. Skips damaged facts, trials and charges. Error: kParse for a damaged target or key.
  Status Export(std::ostream& out) const;
  /// Exports to a file. Replaces `path` only after the whole export is written.
  Status ExportFile(const std::string& path) const;
  /// Imports either all JSON lines or none. An error of a line has the location `name`:line.
  Result<ExchangeCounts> Import(std::istream& in, const std::string& name, TimesFrom times);
  Result<ExchangeCounts> ImportFile(const std::string& path, TimesFrom times);
  /// Merges another database, except its artifacts, into this one. A second merge of the same
  /// database changes nothing. If both databases have different records of one schedule, both
  /// directions of merging store the same record.
  Result<ExchangeCounts> Merge(const std::string& other_path, TimesFrom times);

  // --- Upkeep (upkeep.cc).

  /// Removes trials and artifacts by `policy`, then keys without trials, then unused workloads and
  /// targets.
  Result<PruneCounts> Prune(const PrunePolicy& policy);
  /// Removes all trials of the workloads of these texts, then unused rows as Prune does.
  Result<PruneCounts> Forget(const std::vector<std::string>& workload_texts);
  /// Rebuilds the database without the space of removed rows.
  Status Compact();
  /// Runs SQLite's check of the whole file, and checks foreign keys. If these find no problem,
  /// checks tunec's invariants. Returns one line for each problem found. SQLite's check stops after
  /// 100 problems.
  Result<std::vector<std::string>> IntegrityCheck() const;

 private:
  explicit Database(std::unique_ptr<DatabaseConnection> connection);
  std::unique_ptr<DatabaseConnection> connection_;
};

}  // namespace tunec
