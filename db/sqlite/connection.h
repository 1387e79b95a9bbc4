// One SQLite connection behind one mutex. After the opening, Database uses SQLite only through such
// a connection. Inside Read and Write, SQLite's exceptions may be thrown; Read and Write convert
// them to Errors.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "db/database.h"
#include "db/seal/object_key.h"
#include "support/error.h"

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace tunec {

/// Sets the options of a connection. They are not stored in the file.
void ConfigureConnection(SQLite::Database& sqlite);

/// Returns a configured copy of `from` in memory. Throws SQLite's exceptions.
std::unique_ptr<SQLite::Database> CopyInMemory(SQLite::Database& from);

class DatabaseConnection {
 public:
  /// Opens a connection. `key_file` is the path of the key of the user's compiled objects. The file
  /// need not exist; see Database::Open.
  static Result<std::unique_ptr<DatabaseConnection>> Open(const std::string& path, OpenMode mode,
                                                          const std::string& key_file);
  ~DatabaseConnection();

  /// Returns a copy of the file in memory. The file is only read.
  static Result<std::unique_ptr<DatabaseConnection>> OpenCopy(const std::string& path,
                                                              const std::string& key_file);
  /// Lets the connection continue in memory if the file fails; see Database::ContinueWithoutFile.
  void ContinueWithoutFile(std::function<void(const std::string&)> log);

  const std::string& path() const { return path_; }
  bool in_memory() const { return in_memory_; }
  /// Returns SQLite's connection. Requires: called inside Read or Write.
  SQLite::Database& sqlite() { return *sqlite_; }
  /// Returns a prepared statement without bound values. Requires: called inside Read or Write.
  std::unique_ptr<SQLite::Statement> TakeStatement(const char* sql);
  /// Retains a statement for the next TakeStatement of its text.
  void ReturnStatement(std::unique_ptr<SQLite::Statement> statement) noexcept;

  /// Runs `body`, which returns a Result, under the mutex and in one read transaction. If an error
  /// of the file switches the connection to memory, Read and Write run `body` again.
  template <class Body>
  std::invoke_result_t<Body> Read(Body body) {
    return Run(Access::kRead, std::move(body));
  }
  /// Runs `body` like Read, but in one write transaction, which an error rolls back. Returns
  /// kInvalidArgument if the database is opened for reading only.
  template <class Body>
  std::invoke_result_t<Body> Write(Body body) {
    return Run(Access::kWrite, std::move(body));
  }
  /// Makes the file smaller if pages are unused.
  Status Vacuum();

  /// Returns the key of the user's compiled objects; null if the key file does not exist or cannot
  /// be used. Notes once why the file cannot be used (NoteMiss). A database in memory without the
  /// path of a key file has a random key. Requires: called inside Read or Write.
  const ObjectKey* FindKey();
  /// Returns the key, and makes a missing key file; null if the file cannot be used or made. For a
  /// database in memory, makes a random key instead of a missing file.
  const ObjectKey* FindOrMakeKey();

  /// Stores a reason for missing results, for TakeMissReasons. May be called inside Read and Write.
  void NoteMiss(const std::string& reason);
  std::vector<std::string> TakeMissReasons();

 private:
  enum class Access { kRead, kWrite };
  DatabaseConnection(std::string path, OpenMode mode, std::string key_file,
                     std::unique_ptr<SQLite::Database> sqlite);
  const ObjectKey* StoreKey(Result<std::optional<ObjectKey>> found);
  Status Guarded(Access access, const std::function<Status()>& body);
  Status InTransaction(Access access, const std::function<Status()>& body);
  Status CheckWritable() const;
  bool SwitchToMemory(const Error& error);
  void NoticeRemoval();
  void Tell(const std::string& line);

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
  std::optional<ObjectKey> key_;  // set on first use
  bool key_rejected_ = false;
  bool in_memory_;
  std::function<void(const std::string&)> log_;  // empty: file errors are returned to the caller
  std::thread::id log_thread_;                   // the thread in which log_ may be called
  bool removal_noticed_ = false;
  std::mutex mutex_;
  std::unique_ptr<SQLite::Database> sqlite_;
  /// Statements of `sqlite_` by their text. A compilation runs each text once per kernel.
  std::map<std::string, std::unique_ptr<SQLite::Statement>, std::less<>> statements_;
  std::mutex miss_mutex_;
  std::vector<std::string> miss_reasons_;
};

}  // namespace tunec
