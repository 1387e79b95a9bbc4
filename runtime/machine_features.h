// What this machine's processor has, found without a compiler.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace tunec {

/// Its features by LLVM's names, as far as code of ours may use them; AMX only where the kernel
/// grants it to this process, which this call asks for. A feature that is not known here counts as
/// missing.
std::set<std::string> ProcessorFeatures();

/// Those of `features` that this machine lacks, in their order.
std::vector<std::string> MissingHere(const std::vector<std::string>& features);

}  // namespace tunec
