// Detection of processor features without a compiler.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace tunec {

/// Returns the processor's features that tunec's code may use, by LLVM's names. AMX is included
/// only if the operating system grants AMX to this process (RequestTileData). A feature that this
/// function does not list counts as missing.
std::set<std::string> ProcessorFeatures();

/// Returns the elements of `features` that this machine lacks, in order.
std::vector<std::string> FindMissingFeatures(const std::vector<std::string>& features);

}  // namespace tunec
