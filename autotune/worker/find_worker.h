// The search for the worker program.
#pragma once

#include <string>

#include "support/error.h"

namespace tunec {

/// Returns the path of the first executable `tunec-worker` in OwnFolders (support/own_folders.h).
/// The error kNotFound lists the searched paths.
Result<std::string> FindWorker();

}  // namespace tunec
