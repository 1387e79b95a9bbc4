// Implementation of UsableMemory. A control group's limit is in `memory.max` (version 2), or in
// `memory.limit_in_bytes` (version 1, controller `memory`).
#include "support/usable_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "support/control_groups.h"

namespace tunec {
namespace {

double BytesOf(const std::filesystem::path& group, bool version2) {
  double bytes = -1;
  std::ifstream(group / (version2 ? "memory.max" : "memory.limit_in_bytes")) >> bytes;  // or "max"
  return bytes > 0 ? bytes : kNoGroupLimit;
}

int64_t MachineMemory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : 0;
}

}  // namespace

int64_t UsableMemory(const std::filesystem::path& root) {
  const int64_t machine = MachineMemory();
  const double limit = LeastGroupLimit({.controller = "memory", .read = BytesOf}, root);
  return limit < static_cast<double>(machine) ? static_cast<int64_t>(limit) : machine;
}

}  // namespace tunec
