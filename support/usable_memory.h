// A function that returns the memory limit of the machine and of control groups.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tunec {

/// Returns the bytes of the machine's memory, or a lower limit of a control group. The process's
/// own group and the enclosing groups count, of version 1 and 2, as far as they are mounted.
/// Returns 0 if the machine's memory is unknown. The paths of /proc and of the mounted folders are
/// taken relative to `root`.
int64_t UsableMemory(const std::filesystem::path& root = "/");

}  // namespace tunec
