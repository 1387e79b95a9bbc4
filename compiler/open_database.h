// Opening of the tuning database for every entry point: the command and the C interface.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// The place where tuning results are stored.
struct DatabaseChoice {
  enum class Kind { kDefault, kFile, kNone };
  Kind kind = Kind::kDefault;
  std::string path;  // used with kFile
};

/// Opens the database for a compilation with this number of trials. Returns null if nothing is to
/// be looked up or stored. Trials without a file use a database in memory. If the default file
/// cannot be opened, or cannot be written later, `log` receives one line, and the work continues
/// without a database. A file that the user named must open, otherwise the call fails; without
/// trials, read access is enough.
Result<std::unique_ptr<Database>> OpenChosenDatabase(
    const DatabaseChoice& choice, int trials, const std::function<void(const std::string&)>& log);

}  // namespace tunec
