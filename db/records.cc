// TrialStatusName, and the members of Database for opening, trials, convergence and the reasons for
// missing results.
#include "db/records.h"

#include <utility>

#include "db/cache_folder.h"
#include "db/database.h"
#include "db/sqlite/connection.h"
#include "db/tables/rows.h"
#include "db/tables/validate.h"
#include "support/check.h"

namespace tunec {

std::string_view TrialStatusName(TrialStatus status) {
  switch (status) {
    case TrialStatus::kOk:
      return "ok";
    case TrialStatus::kWrongResult:
      return "wrong result";
    case TrialStatus::kCompileError:
      return "compile error";
    case TrialStatus::kCrashed:
      return "crashed";
    case TrialStatus::kTimedOut:
      return "timed out";
    case TrialStatus::kOutOfMemory:
      return "out of memory";
    case TrialStatus::kIllegal:
      return "illegal";
  }
  return "";
}

std::optional<TrialStatus> FindTrialStatus(std::string_view name) {
  constexpr int kLast = std::to_underlying(TrialStatus::kIllegal);
  for (int number = 1; number <= kLast; ++number) {
    const auto status = static_cast<TrialStatus>(number);
    if (name == TrialStatusName(status)) return status;
  }
  return std::nullopt;
}

bool HasSeeds(const TuningKey& key) { return key.policy.ends_with(kSeedsClause); }

std::string SeedsPolicy(std::string_view policy) {
  return policy.ends_with(kSeedsClause) ? std::string(policy)
                                        : fmt::format("{}{}", policy, kSeedsClause);
}

Database::Database(std::unique_ptr<DatabaseConnection> connection)
    : connection_(std::move(connection)) {}

Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::Open(const std::string& path, OpenMode mode) {
  return Open(path, mode, ObjectKeyPath());
}

Result<Database> Database::Open(const std::string& path, OpenMode mode,
                                const std::string& key_file) {
  TUNEC_ASSIGN(auto connection, DatabaseConnection::Open(path, mode, key_file));
  return Database(std::move(connection));
}

Result<Database> Database::OpenCopy(const std::string& path) {
  TUNEC_ASSIGN(auto connection, DatabaseConnection::OpenCopy(path, ObjectKeyPath()));
  return Database(std::move(connection));
}

void Database::ContinueWithoutFile(std::function<void(const std::string&)> log) {
  connection_->ContinueWithoutFile(std::move(log));
}

const std::string& Database::Path() const { return connection_->path(); }

std::vector<std::string> Database::TakeMissReasons() const {
  return connection_->TakeMissReasons();
}

Result<RecordOutcome> Database::RecordTrial(const TuningKey& key, const TrialRecord& trial,
                                            const std::string& model) {
  TUNEC_RETURN_IF_ERROR(Validate(key));
  TUNEC_RETURN_IF_ERROR(ValidateText("model", model));
  const TrialRecord record = Normalised(trial);
  TUNEC_RETURN_IF_ERROR(Validate(record));
  return connection_->Write([&]() -> Result<RecordOutcome> {
    const int64_t task = EnsureTask(*connection_, key);
    const RecordOutcome outcome = UpsertTrial(*connection_, task, record);
    if (outcome == RecordOutcome::kAdded && !model.empty()) AddCharge(*connection_, model, task, 1);
    return outcome;
  });
}

Result<std::vector<TrialRecord>> Database::Trials(const TuningKey& key) const {
  return connection_->Read([&]() -> Result<std::vector<TrialRecord>> {
    std::vector<TrialRecord> trials;
    const std::optional<int64_t> task = FindTask(*connection_, key);
    if (task) trials = TrialsOfTask(*connection_, *task);
    return trials;
  });
}

Result<int64_t> Database::CountTrials(const TuningKey& key) const {
  return connection_->Read([&]() -> Result<int64_t> {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    if (!task) return 0;
    Query count(*connection_, "SELECT count(*) FROM trials WHERE task = ?", *task);
    count.Step();
    return count.Integer(0);
  });
}

Result<std::optional<TrialRecord>> Database::Best(const TuningKey& key) const {
  return connection_->Read([&]() -> Result<std::optional<TrialRecord>> {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    return task ? BestTrial(*connection_, *task) : std::nullopt;
  });
}

Status Database::Choose(const TuningKey& key, const std::string& schedule) {
  return connection_->Write([&]() -> Status {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    const std::optional<TrialRecord> trial =
        task ? FindTrial(*connection_, *task, schedule) : std::nullopt;
    if (!trial || trial->status != TrialStatus::kOk) {
      return Fail(ErrorCode::kNotFound, "{}: the chosen schedule has no correct trial",
                  key.workload.description);
    }
    ChooseTrial(*connection_, *task, trial->id);
    return {};
  });
}

Result<std::optional<std::string>> Database::Chosen(const TuningKey& key) const {
  return connection_->Read([&]() -> Result<std::optional<std::string>> {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    const std::optional<TrialRecord> trial = task ? ChosenTrial(*connection_, *task) : std::nullopt;
    return trial ? std::optional(trial->schedule) : std::nullopt;
  });
}

Result<std::optional<TrialRecord>> Database::Find(const TuningKey& key,
                                                  const std::string& schedule) const {
  return connection_->Read([&]() -> Result<std::optional<TrialRecord>> {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    return task ? FindTrial(*connection_, *task, schedule) : std::nullopt;
  });
}

Status Database::SetConverged(const TuningKey& key, const Convergence& convergence) {
  TUNEC_RETURN_IF_ERROR(Validate(key));
  TUNEC_CHECK(convergence.space > 0, "search space {}", convergence.space);
  return connection_->Write([&]() -> Status {
    const int64_t task = EnsureTask(*connection_, key);
    Query(*connection_,
          "UPDATE tasks SET converged = ?, converged_by = ?, converged_bound = ? WHERE id = ?",
          convergence.space, std::to_underlying(convergence.reason), convergence.bound, task)
        .Run();
    return {};
  });
}

Status Database::ClearConverged(const TuningKey& key) {
  return connection_->Write([&]() -> Status {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    if (!task) return {};
    Query(*connection_,
          "UPDATE tasks SET converged = 0, converged_by = 0, converged_bound = 0 WHERE id = ?",
          *task)
        .Run();
    return {};
  });
}

Result<std::optional<Convergence>> Database::Converged(const TuningKey& key) const {
  return connection_->Read([&]() -> Result<std::optional<Convergence>> {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    if (!task) return std::nullopt;
    Query query(*connection_,
                "SELECT converged, converged_by, converged_bound FROM tasks WHERE id = ?", *task);
    if (!query.Step()) return std::nullopt;
    return ReadConvergence(query, 0);
  });
}

}  // namespace tunec
