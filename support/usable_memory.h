// A function that returns the memory limit of this process.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tunec {

/// Returns the bytes of the machine's memory, or fewer if a control group has a limit. The
/// process's own group and all enclosing groups count, of version 1 and 2. Returns 0 if the
/// machine's memory is unknown. The files /proc/self/cgroup and /proc/self/mountinfo and their file
/// systems are read at paths relative to `root`.
int64_t UsableMemory(const std::filesystem::path& root = "/");

}  // namespace tunec
