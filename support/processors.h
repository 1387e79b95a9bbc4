// How many processors this process may use.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace tunec {

/// The numbers of the processors that the affinity of this thread allows, which a set of processors
/// (cpuset) limits, too. Empty where the system does not tell.
std::vector<int> AllowedProcessors();

/// Lets this thread run on these processors alone. Without any, or where the system refuses,
/// nothing changes.
void StayOn(std::span<const int> processors);

/// How many threads of this process can run at once: the processors that its affinity allows, or
/// fewer where a control group (version 1 or 2, its own or an enclosing one) limits its share of
/// time, which is rounded up. At least 1. Under `root` lie the files /proc/self/cgroup and
/// /proc/self/mountinfo and the file systems that they name.
int UsableProcessors(const std::filesystem::path& root = "/");

}  // namespace tunec
