#include "db/sqlite/sqlite_error.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace tunec {
namespace {

TEST(SqliteError, NamesTheFileAndSaysWhatHappened) {
  const struct {
    int result_code;
    ErrorCode code;
    const char* message;
  } kCases[] = {
      {SQLITE_FULL, ErrorCode::kIo, "t.db: disk full: nothing was recorded (why)"},
      {SQLITE_BUSY, ErrorCode::kIo, "t.db: locked by another process for 10 s (why)"},
      {SQLITE_BUSY_SNAPSHOT, ErrorCode::kIo, "t.db: locked by another process for 10 s (why)"},
      {SQLITE_CORRUPT, ErrorCode::kParse, "t.db: damaged database (why)"},
      {SQLITE_CONSTRAINT_UNIQUE, ErrorCode::kParse, "t.db: damaged database (why)"},
      {SQLITE_NOTADB, ErrorCode::kParse, "t.db: not a database of tunec (why)"},
      {SQLITE_IOERR_WRITE, ErrorCode::kIo, "t.db: cannot read or write the database (why)"},
      {SQLITE_CANTOPEN, ErrorCode::kIo, "t.db: cannot read or write the database (why)"},
      {SQLITE_TOOBIG, ErrorCode::kResourceLimit, "t.db: too big for the database (why)"},
      {SQLITE_ERROR, ErrorCode::kParse, "t.db: damaged database (why)"},
      {SQLITE_MISUSE, ErrorCode::kInternal, "t.db: database failure (why, code -1)"},
  };
  for (const auto& [result_code, code, message] : kCases) {
    const Error error = ConvertSqliteError(SQLite::Exception("why", result_code), "t.db");
    EXPECT_EQ(error.code, code);
    EXPECT_EQ(error.message, message);
  }
}

// SQLite's messages may quote escape sequences from the schema of a damaged file.
TEST(SqliteError, QuotesNothingThatATerminalObeys) {
  const Error error = ConvertSqliteError(
      SQLite::Exception("near \"\xce\x1b[2J\x7f\xc3\xa9\"", SQLITE_CORRUPT), "t.db");
  EXPECT_EQ(error.message, "t.db: damaged database (near \"??[2J?\xc3\xa9\")");
}

}  // namespace
}  // namespace tunec
