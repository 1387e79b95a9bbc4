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
#include "support/error.h"

namespace SQLite {
class Database;
}

namespace tunec {

class DatabaseConnection {
 public:
  static Result<std::unique_ptr<DatabaseConnection>> Open(const std::string& path, OpenMode mode);
  ~DatabaseConnection();

  const std::string& path() const { return path_; }
  bool in_memory() const;
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

  /// Remembers why a row was passed over. Safe inside Read and Write.
  void Miss(std::string reason);
  std::vector<std::string> TakeMissReasons();

 private:
  enum class Access { kRead, kWrite };
  DatabaseConnection(std::string path, OpenMode mode, std::unique_ptr<SQLite::Database> sqlite);
  Status Guarded(Access access, const std::function<Status()>& body);
  Status InTransaction(Access access, const std::function<Status()>& body);

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
  std::mutex mutex_;
  std::unique_ptr<SQLite::Database> sqlite_;
  std::mutex miss_mutex_;
  std::vector<std::string> miss_reasons_;
};

}  // namespace tunec
