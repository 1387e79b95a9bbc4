// The tuning database behind every door: the command, the C interface.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "db/database.h"
#include "support/error.h"

namespace tunec {

/// Where tuning results are kept.
struct DatabaseChoice {
  enum class Kind { kDefault, kFile, kNone };
  Kind kind = Kind::kDefault;
  std::string path;  // kFile
};

/// The database for compiling with so many trials, or null: nothing is looked up or kept. Trials
/// without a file get one in memory. What a user did not name is not missed: if it cannot be opened
/// or, later on, written, `log` gets one line, and the work goes on without it. A named one that
/// cannot be opened is an error, except that reading is enough without trials.
Result<std::unique_ptr<Database>> OpenChosenDatabase(
    const DatabaseChoice& choice, int trials, const std::function<void(const std::string&)>& log);

}  // namespace tunec
