// Folders in which parts of this program or library may be installed.
#pragma once

#include <filesystem>
#include <vector>

namespace tunec {

/// Returns the folders that are searched for the programs that come with this code. The order is
/// fixed, and each folder appears once: the folder of the shared library or program that contains
/// this code; `bin` and `libexec/tunec` beside that folder; `bin` one level further up; then the
/// same folders for the running program.
std::vector<std::filesystem::path> OwnFolders();

}  // namespace tunec
