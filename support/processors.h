// The number of processors that this process may use.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace tunec {

/// Returns the numbers of the processors that the affinity of this thread allows. A cpuset limits
/// the affinity, too. Returns an empty list if the system does not provide it.
std::vector<int> AllowedProcessors();

/// Restricts this thread to these processors. Does nothing if the list is empty or the system
/// rejects it.
void StayOn(std::span<const int> processors);

/// Returns how many threads of this process can run at once. Its affinity limits the processors,
/// and a control group may limit the share of time, which is rounded up. Groups of version 1 and 2
/// count, the process's own and enclosing ones. The result is at least 1. The files
/// /proc/self/cgroup and /proc/self/mountinfo and their file systems are searched for under `root`.
int UsableProcessors(const std::filesystem::path& root = "/");

}  // namespace tunec
