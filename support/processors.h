// Functions that return or restrict the processors that this process or thread may use.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace tunec {

/// Returns the numbers of the processors that the affinity of this thread allows. A cpuset limits
/// the affinity, too. Returns an empty list if the affinity cannot be read.
std::vector<int> AllowedProcessors();

/// Returns the processors in an order in which the first one of each core comes before the others
/// of the same core. The file topology/thread_siblings_list of each processor below
/// `root`/sys/devices/system/cpu names the processors of its core. Without this file, a processor
/// counts as a core.
std::vector<int> DistinctCoresFirst(std::span<const int> processors,
                                    const std::filesystem::path& root = "/");

/// Restricts this thread to these processors. Does nothing if the list is empty or the system
/// rejects the list.
void RestrictThreadTo(std::span<const int> processors);

/// Returns how many threads of this process can run at once. The affinity of the calling thread
/// limits the processors. A control group may limit the share of time; the limit is rounded up to
/// whole processors. The process's own group and the enclosing mounted groups count, of version 1
/// and 2. The result is at least 1. The files /proc/self/cgroup and /proc/self/mountinfo and the
/// groups' folders are read at paths relative to `root`.
int UsableProcessors(const std::filesystem::path& root = "/");

}  // namespace tunec
