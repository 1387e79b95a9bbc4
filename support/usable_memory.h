// The memory limit of this process.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tunec {

/// Returns the bytes of the machine's memory, or fewer if a control group has a limit. Groups of
/// version 1 and 2 count, the process's own and enclosing ones. Returns 0 if unknown. The files
/// /proc/self/cgroup and /proc/self/mountinfo and their file systems are searched for under `root`.
int64_t UsableMemory(const std::filesystem::path& root = "/");

}  // namespace tunec
