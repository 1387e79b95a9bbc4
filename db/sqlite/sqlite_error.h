// The conversion of SQLite's exceptions to Errors.
#pragma once

#include <string>

#include "support/error.h"

namespace SQLite {
class Exception;
}

namespace tunec {

/// Maximum time that a connection waits for locks of other connections, in milliseconds.
inline constexpr int kBusyTimeoutMs = 10'000;

/// Returns the Error for an exception of the database at `path`.
Error ConvertSqliteError(const SQLite::Exception& exception, const std::string& path);

}  // namespace tunec
