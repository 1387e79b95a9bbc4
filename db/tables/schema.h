// Functions that make and check the tables of a database, and migrate older files.
// docs/reference/database.md describes the tables.
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

/// A function that migrates a database from schema version i to i + 1, where i is the function's
/// index in the list. May throw SQLite::Exception.
using Migration = void (*)(SQLite::Database&);

/// Returns the released migrations; their number is the current version. Only append to the list,
/// never edit it.
std::span<const Migration> Migrations();

int SchemaVersion();

/// The numbers of rows that a migration changed in a way that users notice.
struct MigrationCounts {
  int64_t dropped_objects = 0;  // compiled objects that were deleted
  int64_t seeds = 0;            // trials that are seeds now (kSeedsClause)
  int64_t reopened = 0;         // tasks that are not converged any more
  bool operator==(const MigrationCounts&) const = default;
};

/// Applies the missing migrations to `sqlite` in one transaction. Error messages name `path`.
/// Initializes an empty database. Errors:
/// kInvalidArgument for another program's file, kUnsupported for a version newer than the list,
/// kParse for an older file with a damaged schema. May throw SQLite::Exception.
Result<MigrationCounts> Migrate(SQLite::Database& sqlite, const std::string& path,
                                std::span<const Migration> migrations);

/// Checks that `sqlite` has the tables of its schema version. Returns kParse if the version or a
/// table is damaged, kUnsupported if a later tunec wrote the file.
Status CheckSchema(SQLite::Database& sqlite, const std::string& path);
bool HasCurrentSchema(SQLite::Database& sqlite);

/// Returns the error for a file of another program.
Error ForeignDatabase(const std::string& path, int64_t application_id);
/// Returns the error for a file of a later tunec.
Error NewerDatabase(const std::string& path, int64_t version, int64_t supported);

}  // namespace tunec
