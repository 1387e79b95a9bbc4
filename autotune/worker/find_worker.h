// Where the measuring program is.
#pragma once

#include <string>

#include "support/error.h"

namespace tunec {

/// The path of `tunec-worker`: beside the shared library or program this code is in, or in a
/// folder `bin` or `libexec/tunec` next to that. kNotFound lists where it was sought.
Result<std::string> FindWorker();

}  // namespace tunec
