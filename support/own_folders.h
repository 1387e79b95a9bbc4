// Where what belongs to this program or library is installed.
#pragma once

#include <filesystem>
#include <vector>

namespace tunec {

/// The folders in which programs that come with this code are looked for, in this order, each once:
/// that of the shared library or program which this code is linked into; next to that `bin` and
/// `libexec/tunec`; `bin` one level further up; and the same of this process's program.
std::vector<std::filesystem::path> OwnFolders();

}  // namespace tunec
