// The opening of database files. Only empty files and files that tunec wrote are changed.
//
// SQLite may repair or checkpoint a file that it opens for writing. So the 100 bytes of the
// header are checked first, through a read-only connection that takes no lock. A file of tunec has
// the application id from its first commit on, because the id is set before the file enters
// write-ahead logging. The bytes are read through SQLite's own file object, because closing a
// second descriptor would drop all POSIX locks of this process on the file.
#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "db/cache_folder.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/sqlite_error.h"
#include "db/tables/schema.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;
using SqlitePtr = std::unique_ptr<SQLite::Database>;

struct OpenedDatabase {
  SqlitePtr sqlite;
  MigrationCounts migrated = {};  // rows of the file that the migration changed
};

constexpr int kHeaderBytes = 100;
constexpr int kPageSizeOffset = 16;
constexpr int kUserVersionOffset = 60;
constexpr int kApplicationIdOffset = 68;

/// The state of a path before the database is opened: no file, an empty file or a file with bytes.
enum class Found { kNothing, kEmptyFile, kFile };

Result<Found> LookAt(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return Found::kNothing;
  if (status.type() == fs::file_type::none || status.type() == fs::file_type::unknown) {
    return Fail(ErrorCode::kIo, "{}: {}", path, error.message());
  }
  if (status.type() == fs::file_type::directory) {
    return Fail(ErrorCode::kInvalidArgument, "{}: is a directory, expected a database file", path);
  }
  if (status.type() != fs::file_type::regular) {
    return Fail(ErrorCode::kInvalidArgument, "{}: is not a regular file", path);
  }
  // Only a file without bytes counts as empty: SQLite would overwrite a file of one byte too.
  return fs::file_size(path, error) == 0 ? Found::kEmptyFile : Found::kFile;
}

std::unexpected<Error> NoSuchDatabase(const std::string& path) {
  return Fail(ErrorCode::kNotFound, "{}: no such database", path);
}

Status CheckAccess(const std::string& path, int mode, const char* purpose) {
  if (access(path.c_str(), mode) == 0) return {};
  return Fail(ErrorCode::kIo, "{}: cannot {}: {}", path, purpose, std::strerror(errno));
}

/// Makes `folder` and its missing parents. They are private if `folder` is the user's cache folder.
/// Else they get the usual access rights, since the user may share them.
Status MakeFolders(const std::string& folder) {
  if (CacheFolder() == folder) return MakePrivateFolders(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return Fail(ErrorCode::kIo, "{}: cannot create: {}", folder, error.message());
}

/// Makes the folders of `path` and checks that the journal can be written next to it.
Status PrepareFolder(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  TUNEC_RETURN_IF_ERROR(MakeFolders(folder));
  return CheckAccess(folder, W_OK | X_OK, "write into this folder");
}

int64_t BigEndian32(const unsigned char* bytes) {
  return int64_t{bytes[0]} << 24 | int64_t{bytes[1]} << 16 | int64_t{bytes[2]} << 8 | bytes[3];
}

/// Checks that the file has a whole number of pages, since SQLite reads zeros after the end of an
/// incomplete last page. Skips a file with a log or journal: a write may be in progress.
Status CheckWholePages(const std::string& path, const unsigned char* header, int64_t size) {
  const int64_t stored = int64_t{header[kPageSizeOffset]} << 8 | header[kPageSizeOffset + 1];
  const int64_t page_size = stored == 1 ? 65536 : stored;
  const auto has_content = [](const std::string& name) {
    std::error_code error;
    const auto bytes = fs::file_size(name, error);
    return !error && bytes > 0;
  };
  const bool in_progress = has_content(path + "-wal") || has_content(path + "-journal");
  if (in_progress || page_size == 0 || size % page_size == 0) return {};
  return Fail(ErrorCode::kParse, "{}: damaged database: {} bytes are not a whole number of pages",
              path, size);
}

/// Rejects the file at `path` if it is not tunec's, has a newer schema or fails CheckWholePages.
Status CheckFile(const std::string& path) {
  const SQLite::Database probe(path, SQLite::OPEN_READONLY, kBusyTimeoutMs);
  sqlite3_file* file = nullptr;
  probe.check(sqlite3_file_control(probe.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file));
  sqlite3_int64 size = 0;
  probe.check(file->pMethods->xFileSize(file, &size));
  std::array<unsigned char, kHeaderBytes> header{};
  constexpr char kMagic[] = "SQLite format 3";
  if (size >= kHeaderBytes) {
    probe.check(file->pMethods->xRead(file, header.data(), kHeaderBytes, 0));
  }
  if (std::memcmp(header.data(), kMagic, sizeof kMagic) != 0) {
    return Fail(ErrorCode::kParse, "{}: not a database: it lacks SQLite's header", path);
  }
  const int64_t application_id = BigEndian32(&header[kApplicationIdOffset]);
  if (application_id != kApplicationId) {
    return std::unexpected(ForeignDatabase(path, application_id));
  }
  // A negative version passes here. Migrate or CheckSchema rejects it later.
  const auto version = static_cast<int32_t>(BigEndian32(&header[kUserVersionOffset]));
  if (version > SchemaVersion()) {
    return std::unexpected(NewerDatabase(path, version, SchemaVersion()));
  }
  return CheckWholePages(path, header.data(), size);
}

void CheckpointOnClose(SQLite::Database& sqlite, int enabled) {
  sqlite3_db_config(sqlite.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, enabled ? 0 : 1, nullptr);
}

/// Enters write-ahead logging. SQLite does not wait for the exclusive lock of this change, so this
/// function repeats the attempt while the file is busy, for up to kBusyTimeoutMs.
void EnterWriteAheadLogging(SQLite::Database& sqlite) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
  while (true) {
    try {
      sqlite.execAndGet("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& exception) {
      if ((exception.getErrorCode() & 0xff) != SQLITE_BUSY || Clock::now() > deadline) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Result<OpenedDatabase> OpenForWriting(const std::string& path, OpenMode mode) {
  TUNEC_ASSIGN(const Found found, LookAt(path));
  if (found == Found::kNothing && mode == OpenMode::kExisting) return NoSuchDatabase(path);
  if (found != Found::kNothing) TUNEC_RETURN_IF_ERROR(CheckAccess(path, R_OK, "read"));
  if (found == Found::kFile) TUNEC_RETURN_IF_ERROR(CheckFile(path));
  if (found != Found::kNothing) TUNEC_RETURN_IF_ERROR(CheckAccess(path, W_OK, "write"));
  TUNEC_RETURN_IF_ERROR(PrepareFolder(path));
  auto sqlite = std::make_unique<SQLite::Database>(
      path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyTimeoutMs);
  CheckpointOnClose(*sqlite, 0);
  ConfigureConnection(*sqlite);
  TUNEC_ASSIGN(const MigrationCounts migrated, Migrate(*sqlite, path, Migrations()));
  TUNEC_RETURN_IF_ERROR(CheckSchema(*sqlite, path));
  CheckpointOnClose(*sqlite, 1);
  EnterWriteAheadLogging(*sqlite);
  return OpenedDatabase{std::move(sqlite), migrated};
}

/// Returns `path` as a URI that declares the file immutable to SQLite.
std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (const unsigned char c : path) {
    const bool plain = std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02x}", c);
  }
  return uri + "?immutable=1";
}

Result<OpenedDatabase> OpenAndCheck(const std::string& path, const std::string& name, int flags) {
  auto sqlite = std::make_unique<SQLite::Database>(name, flags, kBusyTimeoutMs);
  ConfigureConnection(*sqlite);
  TUNEC_RETURN_IF_ERROR(CheckSchema(*sqlite, path));
  if (HasCurrentSchema(*sqlite)) return OpenedDatabase{std::move(sqlite)};
  SqlitePtr migrated = CopyInMemory(*sqlite);
  TUNEC_RETURN_IF_ERROR(Migrate(*migrated, path, Migrations()));
  return OpenedDatabase{std::move(migrated)};  // the file itself is not changed
}

Result<OpenedDatabase> OpenForReading(const std::string& path) {
  TUNEC_ASSIGN(const Found found, LookAt(path));
  if (found == Found::kNothing) return NoSuchDatabase(path);
  TUNEC_RETURN_IF_ERROR(CheckAccess(path, R_OK, "read"));
  if (found == Found::kEmptyFile) return Fail(ErrorCode::kParse, "{}: is an empty file", path);
  TUNEC_RETURN_IF_ERROR(CheckFile(path));
  // Readers of a write-ahead log share an index next to the file. If the folder is read-only and no
  // log exists, the file is complete and can be read directly.
  const bool folder_writable = access(fs::path(path).parent_path().c_str(), W_OK) == 0;
  std::error_code error;
  const bool log_exists = fs::exists(path + "-wal", error);
  if (!folder_writable && !log_exists) {
    return OpenAndCheck(path, ImmutableUri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  }
  return OpenAndCheck(path, path, SQLite::OPEN_READONLY);
}

Result<OpenedDatabase> OpenInMemory(const std::string& path) {
  auto sqlite = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE);
  ConfigureConnection(*sqlite);
  TUNEC_RETURN_IF_ERROR(Migrate(*sqlite, path, Migrations()));
  return OpenedDatabase{std::move(sqlite)};
}

Result<OpenedDatabase> OpenSqlite(const std::string& path, OpenMode mode) {
  try {
    if (path == kInMemory) return OpenInMemory(path);
    return mode == OpenMode::kReadOnly ? OpenForReading(path) : OpenForWriting(path, mode);
  } catch (const SQLite::Exception& exception) {
    return std::unexpected(ConvertSqliteError(exception, path));
  }
}

}  // namespace

void ConfigureConnection(SQLite::Database& sqlite) {
  sqlite3_db_config(sqlite.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite.exec("PRAGMA trusted_schema = OFF");
  sqlite.exec("PRAGMA foreign_keys = ON");
  // With write-ahead logging, a commit then survives the death of the process, but the last commits
  // may be lost in a power failure.
  sqlite.exec("PRAGMA synchronous = NORMAL");
}

Result<std::unique_ptr<DatabaseConnection>> DatabaseConnection::Open(const std::string& path,
                                                                     OpenMode mode,
                                                                     const std::string& key_file) {
  if (path.empty()) return Fail(ErrorCode::kInvalidArgument, "the database path is empty");
  if (path.contains('\0')) {
    return Fail(ErrorCode::kInvalidArgument, "the database path contains a zero byte");
  }
  std::string name = path;
  if (path != kInMemory) {
    // The path is made absolute, so that later uses do not depend on the working directory, and a
    // name such as `file:x` is not parsed as a URI.
    std::error_code error;
    name = fs::absolute(path, error).string();
    if (error) return Fail(ErrorCode::kIo, "{}: {}", path, error.message());
  }
  TUNEC_ASSIGN(OpenedDatabase opened, OpenSqlite(name, mode));
  std::unique_ptr<DatabaseConnection> connection(new DatabaseConnection(
      std::move(name), mode, path == kInMemory ? "" : key_file, std::move(opened.sqlite)));
  const MigrationCounts& migrated = opened.migrated;
  if (migrated.dropped_objects > 0) {
    connection->NoteMiss(fmt::format(
        "{}: migrated to schema {}; its compiled objects ({}) are dropped, and compiled again on "
        "first use",
        connection->path(), SchemaVersion(), migrated.dropped_objects));
  }
  if (migrated.seeds > 0) {
    connection->NoteMiss(fmt::format(
        "{}: migrated to schema {}; the times of {} trials are from several sessions: they are "
        "seeds now; {} converged tasks are open again",
        connection->path(), SchemaVersion(), migrated.seeds, migrated.reopened));
  }
  return connection;
}

}  // namespace tunec
