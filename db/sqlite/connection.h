// One SQLite connection behind one mutex: the only door through which the folder reaches
// the file. Inside Read and Write, SQLite's exceptions may fly; they end here as Errors.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "db/database.h"
#include "db/seal/object_key.h"
#include "support/error.h"

namespace SQLite {
class Database;
}

namespace tunec {

/// What holds for one connection only and changes nothing in the file.
void ConfigureConnection(SQLite::Database& sqlite);

/// Everything that `from` holds, configured. Throws what SQLite throws.
std::unique_ptr<SQLite::Database> CopyInMemory(SQLite::Database& from);

class DatabaseConnection {
 public:
  /// `key_file` holds the key of the user's compiled objects, or will; see Database::Open.
  static Result<std::unique_ptr<DatabaseConnection>> Open(const std::string& path, OpenMode mode,
                                                          const std::string& key_file);
  ~DatabaseConnection();

  /// A copy in memory of what the file holds, which is only read.
  static Result<std::unique_ptr<DatabaseConnection>> OpenCopy(const std::string& path,
                                                              const std::string& key_file);
  /// See Database::GoOnWithoutFile.
  void GoOnWithoutFile(std::function<void(const std::string&)> log);

  const std::string& path() const { return path_; }
  bool in_memory() const { return in_memory_; }
  /// Only inside Read or Write.
  SQLite::Database& sqlite() { return *sqlite_; }

  /// Runs `body`, which returns a Result, under the mutex and in one read transaction.
  template <class Body>
  std::invoke_result_t<Body> Read(Body body) {
    return Run(Access::kRead, std::move(body));
  }
  /// The same in one write transaction, undone when `body` returns an error.
  template <class Body>
  std::invoke_result_t<Body> Write(Body body) {
    return Run(Access::kWrite, std::move(body));
  }
  /// The same without a transaction, for statements that refuse to run in one.
  Status Execute(const char* sql);

  /// The key of the user's compiled objects; null: there is none, or it must not be used, which a
  /// miss tells once. Only inside Read or Write.
  const ObjectKey* FindKey();
  /// The same, made where there is none; null where that fails, too.
  const ObjectKey* FindOrMakeKey();

  /// Remembers why a row was passed over. Safe inside Read and Write.
  void Miss(std::string reason);
  std::vector<std::string> TakeMissReasons();

 private:
  enum class Access { kRead, kWrite };
  DatabaseConnection(std::string path, OpenMode mode, std::string key_file,
                     std::unique_ptr<SQLite::Database> sqlite);
  const ObjectKey* Keep(Result<std::optional<ObjectKey>> found);
  Status Guarded(Access access, const std::function<Status()>& body);
  Status InTransaction(Access access, const std::function<Status()>& body);
  bool LeaveFile(const Error& error);
  void NoticeRemoval();

  template <class Body>
  std::invoke_result_t<Body> Run(Access access, Body body) {
    std::optional<std::invoke_result_t<Body>> result;
    Status status = Guarded(access, [&]() -> Status {
      result.emplace(body());
      if (!*result) return std::unexpected(result->error());
      return {};
    });
    if (!status) return std::unexpected(std::move(status).error());
    return std::move(*result);
  }

  std::string path_;
  OpenMode mode_;
  std::string key_file_;
  std::optional<ObjectKey> key_;  // set by the first question
  bool key_refused_ = false;
  bool in_memory_;
  std::function<void(const std::string&)> log_;  // empty: an error of the file is the caller's
  bool removal_noticed_ = false;
  std::mutex mutex_;
  std::unique_ptr<SQLite::Database> sqlite_;
  std::mutex miss_mutex_;
  std::vector<std::string> miss_reasons_;
};

}  // namespace tunec
