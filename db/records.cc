// Trials and tuning keys, and the small members of Database.
#include "db/records.h"

#include "db/connection.h"
#include "db/database.h"
#include "db/rows.h"
#include "db/validate.h"
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

Database::Database(std::unique_ptr<DatabaseConnection> connection)
    : connection_(std::move(connection)) {}

Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::Open(const std::string& path, OpenMode mode) {
  TUNEC_ASSIGN(auto connection, DatabaseConnection::Open(path, mode));
  return Database(std::move(connection));
}

Result<Database> Database::OpenCopy(const std::string& path) {
  TUNEC_ASSIGN(auto connection, DatabaseConnection::OpenCopy(path));
  return Database(std::move(connection));
}

void Database::GoOnWithoutFile(std::function<void(const std::string&)> log) {
  connection_->GoOnWithoutFile(std::move(log));
}

const std::string& Database::Path() const { return connection_->path(); }

std::vector<std::string> Database::TakeMissReasons() const {
  return connection_->TakeMissReasons();
}

Result<RecordOutcome> Database::RecordTrial(const TuningKey& key, const TrialRecord& trial) {
  TUNEC_RETURN_IF_ERROR(Validate(key));
  const TrialRecord record = Normalised(trial);
  TUNEC_RETURN_IF_ERROR(Validate(record));
  return connection_->Write([&]() -> Result<RecordOutcome> {
    return UpsertTrial(*connection_, EnsureTask(*connection_, key), record);
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

Result<std::optional<TrialRecord>> Database::Find(const TuningKey& key,
                                                  const std::string& schedule) const {
  return connection_->Read([&]() -> Result<std::optional<TrialRecord>> {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    return task ? FindTrial(*connection_, *task, schedule) : std::nullopt;
  });
}

Status Database::SetConverged(const TuningKey& key, int64_t space) {
  TUNEC_RETURN_IF_ERROR(Validate(key));
  TUNEC_CHECK(space > 0, "search space {}", space);
  return connection_->Write([&]() -> Status {
    const int64_t task = EnsureTask(*connection_, key);
    Query(*connection_, "UPDATE tasks SET converged = ? WHERE id = ?", space, task).Run();
    return {};
  });
}

Status Database::ClearConverged(const TuningKey& key) {
  return connection_->Write([&]() -> Status {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    if (task) Query(*connection_, "UPDATE tasks SET converged = 0 WHERE id = ?", *task).Run();
    return {};
  });
}

Result<int64_t> Database::ConvergedSpace(const TuningKey& key) const {
  return connection_->Read([&]() -> Result<int64_t> {
    const std::optional<int64_t> task = FindTask(*connection_, key);
    if (!task) return 0;
    Query query(*connection_, "SELECT converged FROM tasks WHERE id = ?", *task);
    return query.Step() ? query.Integer(0) : 0;
  });
}

}  // namespace tunec
