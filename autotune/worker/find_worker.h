// Finds the worker program.
#pragma once

#include <string>

#include "support/error.h"

namespace tunec {

/// Returns the path of `tunec-worker`. It is searched for in OwnFolders: the folder of the shared
/// library or program with this code, and the folders `bin` and `libexec/tunec` next to that
/// folder. The error kNotFound lists the searched paths.
Result<std::string> FindWorker();

}  // namespace tunec
