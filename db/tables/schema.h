// The tables, and how older files become newer ones. docs/reference/database.md explains each column.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "support/error.h"

namespace SQLite {
class Database;
}

namespace tunec {

/// `tunc` in ASCII, in the header of every file of ours.
inline constexpr int64_t kApplicationId = 0x74756e63;

/// Brings a file from version i to i + 1, i its place in the list. Runs in a transaction;
/// throws SQLite::Exception.
using Migration = void (*)(SQLite::Database&);

/// The released migrations; their number is the current version. Never edited, only appended to.
std::span<const Migration> Migrations();

int SchemaVersion();

/// Applies the migrations that `sqlite`, the file called `path`, lacks, in one transaction, and
/// returns how many compiled objects were dropped with that. Claims an empty file. Errors:
/// kInvalidArgument for another program's file, kUnsupported for one newer than the list, kParse
/// for one without the tables of its version. Throws SQLite::Exception.
Result<int64_t> Migrate(SQLite::Database& sqlite, const std::string& path,
                        std::span<const Migration> migrations);

/// kParse when a table or a column is missing that the version of `sqlite` has, kUnsupported
/// when a later tunec wrote it.
Status CheckSchema(SQLite::Database& sqlite, const std::string& path);
bool HasCurrentSchema(SQLite::Database& sqlite);

/// How a file of another program is refused.
Error ForeignDatabase(const std::string& path, int64_t application_id);
/// How a file of a later tunec is refused.
Error NewerDatabase(const std::string& path, int64_t version, int64_t supported);

}  // namespace tunec
