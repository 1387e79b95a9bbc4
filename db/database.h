// The tuning database: one SQLite file that keeps every measured candidate, the compiled
// objects and the facts measured about machines. Several threads may share one Database,
// several processes one file. docs/reference/database.md describes the file.
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

/// The path of a database without a file, which lives as long as the object.
inline constexpr const char* kInMemory = ":memory:";

enum class OpenMode {
  kReadWrite,  // creates the file and its folders, migrates an older schema
  kExisting,   // the same, but the file must exist
  kReadOnly,   // the file must exist; nothing is written, an older schema is migrated in memory
};

/// $XDG_CACHE_HOME/tunec/tunec.db, else ~/.cache/tunec/tunec.db. kNotFound without a home.
Result<std::string> DefaultDatabasePath();

/// Thread-safe: one mutex around one connection. Moved-from objects may only be destroyed
/// or assigned to. Writes are one transaction each: on an error nothing has changed.
///
/// Errors: kIo (cannot read or write, disk full, locked by another process for 10 s),
/// kInvalidArgument (a directory, another program's database, text that is not UTF-8),
/// kParse (not a database, damaged), kUnsupported (written by a newer tunec), kNotFound.
class Database {
 public:
  /// `path` is a file name or kInMemory. A file that is not ours is never written.
  static Result<Database> Open(const std::string& path, OpenMode mode);
  /// The same with another file of the key that compiled objects carry, in place of `object_key` in
  /// the user's cache folder. It is made when the first object is stored.
  static Result<Database> Open(const std::string& path, OpenMode mode, const std::string& key_file);

  /// What the file at `path` holds, in memory: the file is only read, and what is recorded lives as
  /// long as the object.
  static Result<Database> OpenCopy(const std::string& path);
  /// From now on a file that can no longer be read or written is no error: what it held is taken
  /// into memory, as far as it can be read, and the work goes on there. `log` gets one line about
  /// that, and one when somebody removed the file; it is called within the other functions and must
  /// not call them.
  void GoOnWithoutFile(std::function<void(const std::string&)> log);

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  const std::string& Path() const;

  // --- Trials (records.cc). A tuning key nobody recorded has no trials: not an error.

  /// Records one candidate. On return the record survives the death of this process.
  /// A schedule is kept once per key, with the record that knows more: a wrong result over
  /// a time over any other failure, then more samples, then the later one. Who times a
  /// schedule again therefore hands in the old samples too. A schedule that is new for its key is
  /// charged to `model`, unless that is empty.
  Result<RecordOutcome> RecordTrial(const TuningKey& key, const TrialRecord& trial,
                                    const std::string& model = "");
  /// All trials of `key` in the order of their ids. Undecodable rows are left out.
  Result<std::vector<TrialRecord>> Trials(const TuningKey& key) const;
  /// The number of recorded trials of `key`, failures included.
  Result<int64_t> CountTrials(const TuningKey& key) const;
  /// The ok trial with the smallest median; the same one in every copy of the data.
  Result<std::optional<TrialRecord>> Best(const TuningKey& key) const;
  /// The record of this very schedule.
  Result<std::optional<TrialRecord>> Find(const TuningKey& key, const std::string& schedule) const;
  /// Remembers that the search of `key` stopped because more trials in that search space would not
  /// help, and why. A later call replaces it.
  Status SetConverged(const TuningKey& key, const Convergence& convergence);
  Status ClearConverged(const TuningKey& key);
  /// How the search converged last; none: it has not.
  Result<std::optional<Convergence>> Converged(const TuningKey& key) const;

  // --- Charges (charges.cc): how many trials of each task count for the budget of a model. `model`
  // is the caller's text for the set of the model's keys.

  /// Of all tasks together, of each at most as many as are recorded. None when nothing was ever
  /// charged to the model.
  Result<std::optional<int64_t>> Charged(const std::string& model) const;
  /// Charges a model to which nothing was ever charged; another keeps what it has. Keys that nobody
  /// recorded are passed over.
  Status ChargeNewModel(const std::string& model, const std::vector<TuningKey>& keys,
                        const std::vector<int64_t>& trials);

  // --- Questions over many keys (queries.cc), in the order of kind, workload text, target.

  Result<std::vector<TaskSummary>> List(const TaskFilter& filter) const;
  /// The trials behind List: what a cost model is trained on.
  Result<std::vector<TaskTrials>> ListTrials(const TaskFilter& filter) const;
  /// Tuned workloads of one kind on one target with their best schedules, for the caller to
  /// rank by distance. Only schedules of this version of the language.
  Result<std::vector<TunedWorkload>> NearestWorkloads(const std::string& kind,
                                                      const std::string& target,
                                                      int schedule_version) const;
  /// Under which keys workloads of these texts have correct trials, most workloads first.
  Result<std::vector<KeyUse>> UsesOf(const std::vector<std::string>& workload_texts) const;
  Result<DatabaseStats> Stats() const;

  // --- Compiled objects and machine facts (artifacts.cc). Objects are programs: each user has only
  // those that carry the hash of the user's own key. Without a key that can be trusted none is
  // stored or found, and TakeMissReasons tells why, once.

  /// Stores or replaces the artifact of `key_text`. kInvalidArgument when metadata is not JSON.
  Status PutArtifact(const std::string& key_text, const Artifact& artifact);
  /// Removes the artifact of `key_text`, if there is one.
  Status DropArtifact(const std::string& key_text);
  /// The artifact stored under exactly this key text. A damaged row is a miss; why is told by
  /// TakeMissReasons.
  Result<std::optional<Artifact>> GetArtifact(const std::string& key_text) const;
  Status SetMachineFact(const std::string& target, const MachineFact& fact);
  Result<std::optional<MachineFact>> GetMachineFact(const std::string& target,
                                                    const std::string& name) const;
  /// Ordered by name.
  Result<std::vector<MachineFact>> MachineFacts(const std::string& target) const;

  /// One line for each bad row that was passed over since the last call; clears them. Objects that
  /// a migration dropped and a key that cannot be used have a line, too.
  std::vector<std::string> TakeMissReasons() const;

  // --- Exchange (exchange.cc).

  /// Everything but artifacts as JSON lines, in an order that depends on the data alone.
  Status Export(std::ostream& out) const;
  /// Export, written aside and renamed over `path`.
  Status ExportFile(const std::string& path) const;
  /// Takes in JSON lines. A malformed one is kParse at `name`:line, and nothing is imported.
  Result<ExchangeCounts> Import(std::istream& in, const std::string& name);
  Result<ExchangeCounts> ImportFile(const std::string& path);
  /// Takes in another database, all but artifacts. Idempotent; where both know a thing, the same
  /// one wins whichever way round they are merged.
  Result<ExchangeCounts> Merge(const std::string& other_path);

  // --- Upkeep (upkeep.cc).

  /// Removes trials and artifacts by `policy`, then keys, workloads and targets left empty.
  Result<PruneCounts> Prune(const PrunePolicy& policy);
  /// Removes all trials of the workloads of these texts, on every target.
  Result<PruneCounts> Forget(const std::vector<std::string>& workload_texts);
  /// Gives the space of removed rows back to the file system.
  Status Compact();
  /// SQLite's check of the whole file, its foreign keys and our own invariants: one line for
  /// each problem, none when sound. Reads everything.
  Result<std::vector<std::string>> IntegrityCheck() const;

 private:
  explicit Database(std::unique_ptr<DatabaseConnection> connection);
  std::unique_ptr<DatabaseConnection> connection_;
};

}  // namespace tunec
