// The switch to memory if a database file is damaged, or can no longer be read or written. The
// content of an undamaged, readable file is copied. The removal of the file is only logged.
#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <memory>
#include <utility>

#include "db/sqlite/connection.h"
#include "db/sqlite/sqlite_error.h"
#include "db/tables/schema.h"

namespace tunec {
namespace {

using SqlitePtr = std::unique_ptr<SQLite::Database>;

/// Returns a copy of the content in memory. If the file is damaged or cannot be read, returns empty
/// tables.
Result<SqlitePtr> SaveInMemory(SQLite::Database& from, ErrorCode why) {
  try {
    if (why != ErrorCode::kParse) return CopyInMemory(from);
  } catch (const SQLite::Exception&) {  // NOLINT(bugprone-empty-catch): then nothing is saved
  }
  auto empty = std::make_unique<SQLite::Database>(kInMemory, SQLite::OPEN_READWRITE);
  ConfigureConnection(*empty);
  TUNEC_RETURN_IF_ERROR(Migrate(*empty, kInMemory, Migrations()));
  return empty;
}

}  // namespace

SqlitePtr CopyInMemory(SQLite::Database& from) {
  auto copy = std::make_unique<SQLite::Database>(kInMemory, SQLite::OPEN_READWRITE);
  {
    SQLite::Backup backup(*copy, from);
    if (const int code = backup.executeStep(-1); code != SQLITE_DONE)
      throw SQLite::Exception("the content cannot be copied", code);
  }
  ConfigureConnection(*copy);
  return copy;
}

Result<std::unique_ptr<DatabaseConnection>> DatabaseConnection::OpenCopy(
    const std::string& path, const std::string& key_file) {
  TUNEC_ASSIGN(const auto file, Open(path, OpenMode::kReadOnly, key_file));
  try {
    return std::unique_ptr<DatabaseConnection>(new DatabaseConnection(
        kInMemory, OpenMode::kReadWrite, key_file, CopyInMemory(*file->sqlite_)));
  } catch (const SQLite::Exception& exception) {
    return std::unexpected(ConvertSqliteError(exception, path));
  }
}

void DatabaseConnection::ContinueWithoutFile(std::function<void(const std::string&)> log) {
  const std::lock_guard lock(mutex_);
  log_ = std::move(log);
  log_thread_ = std::this_thread::get_id();
}

/// Passes a line to the log. A line of another thread than the log's is stored for TakeMissReasons.
void DatabaseConnection::Tell(const std::string& line) {
  if (std::this_thread::get_id() == log_thread_)
    log_(line);
  else
    NoteMiss(line);
}

/// Switches from the file to memory if ContinueWithoutFile was called and the error is kIo or
/// kParse. Returns whether this call has switched. Requires: the mutex is held.
bool DatabaseConnection::SwitchToMemory(const Error& error) {
  const bool of_file = error.code == ErrorCode::kIo || error.code == ErrorCode::kParse;
  if (!log_ || in_memory_ || !of_file) return false;
  Result<SqlitePtr> saved = SaveInMemory(*sqlite_, error.code);
  if (!saved) return false;
  statements_.clear();
  sqlite_ = std::move(*saved);
  in_memory_ = true;
  Tell(fmt::format("{}; what this run finds is not kept", error.message));
  return true;
}

/// Logs once if the file was removed or replaced, since writes to the open file are then lost.
/// Requires: the mutex is held.
void DatabaseConnection::NoticeRemoval() {
  if (!log_ || in_memory_ || removal_noticed_) return;
  int moved = 0;
  const int status =
      sqlite3_file_control(sqlite_->getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (status != SQLITE_OK || moved == 0) return;
  removal_noticed_ = true;
  Tell(fmt::format("{}: removed or replaced while it was open; what this run finds is not kept",
                   path_));
}

}  // namespace tunec
