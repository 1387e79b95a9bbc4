// A model of open sizes compiled to be written down.
#pragma once

#include <string>
#include <vector>

#include "compiler/bundle/compile_variant.h"
#include "compiler/compiler.h"
#include "compiler/sized/sized_source.h"
#include "db/database.h"
#include "runtime/sized/choose_sizes.h"
#include "support/error.h"

namespace tunec {

/// Compiles all that runs of sizes up to the listed ones take (KeysOf) for the host of the options:
/// exact code where lists ask for it, padded code for the sizes below. Padded code is compared with
/// the graphs of its sizes, and a size that differs has exact code. `on_log` names sizes without
/// padded code; a run of such a size is refused. Each dimension lists some. Errors: those of
/// Compile; kUnsupported for a device, and for a range that needs code for each of many sizes;
/// kResourceLimit for too many sizes.
Result<BundleVariant> CompileSizedVariant(const SizedSource& source,
                                          const std::vector<ListedSizes>& listed,
                                          Database* database, CompileOptions options,
                                          const std::string& cpu);

}  // namespace tunec
