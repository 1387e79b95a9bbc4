#include "db/sqlite/connection.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <exception>
#include <new>

#include "db/printable.h"
#include "db/seal/key_file.h"
#include "db/sqlite/sqlite_error.h"

namespace tunec {

DatabaseConnection::DatabaseConnection(std::string path, OpenMode mode, std::string key_file,
                                       std::unique_ptr<SQLite::Database> sqlite)
    : path_(std::move(path)),
      mode_(mode),
      key_file_(std::move(key_file)),
      in_memory_(path_ == kInMemory),
      sqlite_(std::move(sqlite)) {}

DatabaseConnection::~DatabaseConnection() = default;

std::unique_ptr<SQLite::Statement> DatabaseConnection::TakeStatement(const char* sql) {
  const auto found = statements_.find(std::string_view(sql));
  if (found == statements_.end()) return std::make_unique<SQLite::Statement>(*sqlite_, sql);
  auto statement = std::move(found->second);
  statements_.erase(found);
  return statement;
}

void DatabaseConnection::ReturnStatement(std::unique_ptr<SQLite::Statement> statement) noexcept {
  // A statement that failed is not retained.
  if (statement->tryReset() != SQLITE_OK) return;
  try {
    statement->clearBindings();
    statements_.try_emplace(statement->getQuery(), std::move(statement));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then it is prepared again
  }
}

Status DatabaseConnection::CheckWritable() const {
  if (mode_ != OpenMode::kReadOnly) return {};
  return Fail(ErrorCode::kInvalidArgument, "{}: opened for reading only", path_);
}

Status DatabaseConnection::Guarded(Access access, const std::function<Status()>& body) {
  if (access == Access::kWrite) TUNEC_RETURN_IF_ERROR(CheckWritable());
  const std::lock_guard lock(mutex_);
  for (;;) {
    try {
      Status status = InTransaction(access, body);
      NoticeRemoval();
      return status;
    } catch (const SQLite::Exception& exception) {
      Error error = ConvertSqliteError(exception, path_);
      if (!SwitchToMemory(error)) return std::unexpected(std::move(error));
    } catch (const std::bad_alloc&) {
      return Fail(ErrorCode::kResourceLimit, "{}: out of memory", path_);
    }
  }
}

Status DatabaseConnection::InTransaction(Access access, const std::function<Status()>& body) {
  // A writer takes its lock immediately: a transaction that reads first and upgrades later may be
  // rejected without waiting.
  const auto behavior = access == Access::kWrite ? SQLite::TransactionBehavior::IMMEDIATE
                                                 : SQLite::TransactionBehavior::DEFERRED;
  SQLite::Transaction transaction(*sqlite_, behavior);
  TUNEC_RETURN_IF_ERROR(body());
  transaction.commit();
  return {};
}

Status DatabaseConnection::Vacuum() {
  TUNEC_RETURN_IF_ERROR(CheckWritable());
  const std::lock_guard lock(mutex_);
  try {
    sqlite_->exec("VACUUM");
    return {};
  } catch (const SQLite::Exception& exception) {
    return std::unexpected(ConvertSqliteError(exception, path_));
  }
}

const ObjectKey* DatabaseConnection::StoreKey(Result<std::optional<ObjectKey>> found) {
  if (found) {
    key_ = *std::move(found);
    return key_ ? &*key_ : nullptr;
  }
  key_rejected_ = true;
  NoteMiss(fmt::format("{}; compiled objects are neither kept nor loaded", found.error().message));
  return nullptr;
}

const ObjectKey* DatabaseConnection::FindKey() {
  if (key_) return &*key_;
  // In memory without a key file, only objects of this process are used, so a random key is
  // enough.
  if (path_ == kInMemory && key_file_.empty()) return StoreKey(ObjectKey::Random());
  return key_rejected_ ? nullptr : StoreKey(FindObjectKey(key_file_));
}

const ObjectKey* DatabaseConnection::FindOrMakeKey() {
  const ObjectKey* const found = FindKey();
  if (found != nullptr || key_rejected_) return found;
  if (in_memory_) return StoreKey(ObjectKey::Random());
  return StoreKey(FindOrMakeObjectKey(key_file_));
}

void DatabaseConnection::NoteMiss(const std::string& reason) {
  const std::lock_guard lock(miss_mutex_);
  miss_reasons_.push_back(Printable(reason));  // the reason may quote the file
}

std::vector<std::string> DatabaseConnection::TakeMissReasons() {
  const std::lock_guard lock(miss_mutex_);
  return std::exchange(miss_reasons_, {});
}

}  // namespace tunec
