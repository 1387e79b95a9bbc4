// The limit of a control group is a quota of processor time per period. A version 2 group stores
// the quota and the period in `cpu.max`. A version 1 group of the controller `cpu` stores them in
// `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
#include "support/processors.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>

#include "support/control_groups.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

/// Returns the processor time that the limit of this group alone allows, in processors. Returns
/// kNoGroupLimit if the group has no limit or the limit cannot be read.
double ProcessorsOf(const fs::path& group, bool version2) {
  double quota = -1;
  double period = 0;
  if (version2) {
    std::ifstream(group / "cpu.max") >> quota >> period;  // "max 100000" gives no quota
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;  // -1: no limit
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : kNoGroupLimit;
}

}  // namespace

std::vector<int> AllowedProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
  return processors;
}

std::vector<int> DistinctCoresFirst(std::span<const int> processors, const fs::path& root) {
  std::set<std::string> cores;
  std::vector<int> first;
  std::vector<int> siblings;
  for (const int processor : processors) {
    std::string core;
    std::ifstream(root / fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list",
                                     processor)) >>
        core;
    const bool is_new = core.empty() || cores.insert(core).second;
    (is_new ? first : siblings).push_back(processor);
  }
  first.insert(first.end(), siblings.begin(), siblings.end());
  return first;
}

void RestrictThreadTo(std::span<const int> processors) {
  if (processors.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

int UsableProcessors(const fs::path& root) {
  const double allowed = std::max(1.0, static_cast<double>(AllowedProcessors().size()));
  const double limit = LeastGroupLimit({.controller = "cpu", .read = ProcessorsOf}, root);
  return std::max(1, static_cast<int>(std::min(allowed, std::ceil(limit))));
}

}  // namespace tunec
