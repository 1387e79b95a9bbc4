// The limit of this process's memory.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tunec {

/// Returns the bytes of the machine's memory, or fewer where a control group (version 1 or 2, its
/// own or an enclosing one) has a limit. 0: unknown. Under `root` lie the files /proc/self/cgroup
/// and /proc/self/mountinfo and the file systems that they name.
int64_t UsableMemory(const std::filesystem::path& root = "/");

}  // namespace tunec
