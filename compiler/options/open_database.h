// Opening of the tuning database for compilations of the command and the C interface.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// The user's choice of a tuning database: the default file, a named file, or no file.
struct DatabaseChoice {
  enum class Kind { kDefault, kFile, kNone };
  Kind kind = Kind::kDefault;
  std::string path;  // used with kFile
};

/// Opens the database for a compilation with this number of trials. Returns null without a file and
/// without trials; trials without a file use a database in memory. If the default file cannot be
/// opened for writing, `log` receives one line. The work then continues with a copy in memory, or
/// without the file if no copy can be made. A file that the user named must open; without trials,
/// read access is enough. A file that opened is used with Database::ContinueWithoutFile.
Result<std::unique_ptr<Database>> OpenChosenDatabase(
    const DatabaseChoice& choice, int trials, const std::function<void(const std::string&)>& log);

}  // namespace tunec
