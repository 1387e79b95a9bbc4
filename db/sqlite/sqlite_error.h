// Where SQLite's exceptions become Errors.
#pragma once

#include <string>

#include "support/error.h"

namespace SQLite {
class Exception;
}

namespace tunec {

/// How long a connection waits for the others before it gives up.
inline constexpr int kBusyTimeoutMs = 10'000;

/// The Error for an exception that the database called `path` caused.
Error ConvertSqliteError(const SQLite::Exception& exception, const std::string& path);

}  // namespace tunec
