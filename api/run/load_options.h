// Conversion of tunec_load_options to BundleOptions, and of a loaded bundle to tunec_executable.
#pragma once

#include <memory>

#include "api/include/tunec/tunec.h"
#include "api/run/executable.h"
#include "runtime/bundle/load_bundle.h"
#include "support/error.h"

namespace tunec {

/// Checks and converts the options. Null means the defaults. Fails with kInvalidArgument for more
/// than 4096 threads. Other errors: those of CopyKnownMembers.
Result<BundleOptions> OptionsOf(const tunec_load_options* options);

std::unique_ptr<tunec_executable> ExecutableOf(LoadedBundle bundle);

}  // namespace tunec
