#include "db/sqlite/sqlite_error.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <string>

#include "db/printable.h"

namespace tunec {

Error ConvertSqliteError(const SQLite::Exception& exception, const std::string& path) {
  const std::string what = Printable(exception.what());  // the text may quote the file
  switch (exception.getErrorCode() & 0xff) {
    case SQLITE_FULL:
      return MakeError(ErrorCode::kIo, "{}: disk full: nothing was recorded ({})", path, what);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return MakeError(ErrorCode::kIo, "{}: locked by another process for {} s ({})", path,
                       kBusyTimeoutMs / 1000, what);
    case SQLITE_NOTADB:
      return MakeError(ErrorCode::kParse, "{}: not a database of tunec ({})", path, what);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:       // the statements fit an undamaged schema
    case SQLITE_CONSTRAINT:  // written rows satisfy the constraints in an undamaged file
      return MakeError(ErrorCode::kParse, "{}: damaged database ({})", path, what);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL:
    case SQLITE_NOLFS:
      return MakeError(ErrorCode::kIo, "{}: cannot read or write the database ({})", path, what);
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return MakeError(ErrorCode::kResourceLimit, "{}: too big for the database ({})", path, what);
    default:
      return MakeError(ErrorCode::kInternal, "{}: database failure ({}, code {})", path, what,
                       exception.getExtendedErrorCode());
  }
}

}  // namespace tunec
