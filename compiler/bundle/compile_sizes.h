// Compilation of a dynamic-shape model for a bundle.
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

/// Compiles the code for runs of all sizes up to the listed ones (KeysOf), for the host of the
/// options: exact code for the sizes of lists, padded code for smaller sizes. A few sizes that
/// padded code does not serve get exact code. `on_log` names the sizes without code; the bundle
/// rejects runs of these sizes.
/// Requires: each dimension has listed sizes. Errors: those of Compile; kUnsupported for a device,
/// and for a range that needs exact code for more than kMostForThemselves sizes; kResourceLimit for
/// too many combinations of listed sizes.
Result<BundleVariant> CompileSizedVariant(const SizedSource& source,
                                          const std::vector<ListedSizes>& listed,
                                          Database* database, CompileOptions options,
                                          const std::string& cpu);

}  // namespace tunec
