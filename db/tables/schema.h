// Functions that make and check the tables of a database, and migrate older files.
// docs/reference/database.md explains each column.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "support/error.h"

namespace SQLite {
class Database;
}

namespace tunec {

/// Application id in the header of every database file of tunec: `tunc` in ASCII.
inline constexpr int64_t kApplicationId = 0x74756e63;

/// A function that migrates a file from schema version i to i + 1, where i is the function's
/// position in the list. Runs in a transaction; throws SQLite::Exception.
using Migration = void (*)(SQLite::Database&);

/// Returns the released migrations; their number is the current version. Only append to the list,
/// never edit it.
std::span<const Migration> Migrations();

int SchemaVersion();

/// Applies the missing migrations to `sqlite`, the file at `path`, in one transaction. Returns the
/// number of compiled objects that were dropped. Initializes an empty file. Errors:
/// kInvalidArgument for another program's file, kUnsupported for a version newer than the list,
/// kParse for a file without the tables of its version. Throws SQLite::Exception.
Result<int64_t> Migrate(SQLite::Database& sqlite, const std::string& path,
                        std::span<const Migration> migrations);

/// Checks the schema. Returns kParse if a table or column of the version of `sqlite` is missing,
/// kUnsupported if a later tunec wrote the file.
Status CheckSchema(SQLite::Database& sqlite, const std::string& path);
bool HasCurrentSchema(SQLite::Database& sqlite);

/// Returns the error for a file of another program.
Error ForeignDatabase(const std::string& path, int64_t application_id);
/// Returns the error for a file of a later tunec.
Error NewerDatabase(const std::string& path, int64_t version, int64_t supported);

}  // namespace tunec
