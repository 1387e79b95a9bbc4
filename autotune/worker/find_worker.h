// Finds the worker program.
#pragma once

#include <string>

#include "support/error.h"

namespace tunec {

/// Returns the path of `tunec-worker`. It is searched for in OwnFolders: next to the shared library
/// or program with this code, and in `bin` and `libexec/tunec` next to that. The error kNotFound
/// lists the searched paths.
Result<std::string> FindWorker();

}  // namespace tunec
