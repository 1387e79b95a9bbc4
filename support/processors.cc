// A group's limit is a quota of processor time in each period: `cpu.max` of a version 2 group,
// `cpu.cfs_quota_us` and `cpu.cfs_period_us` of a version 1 group of the controller `cpu`. The
// least along the way up to the root of the hierarchy holds. Which group the process is in stands
// in /proc/self/cgroup, where its hierarchy is mounted, and from which group on, in
// /proc/self/mountinfo.
#include "support/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tunec {
namespace {

namespace fs = std::filesystem;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// A mounted hierarchy of groups that may limit processor time.
struct Hierarchy {
  bool version2 = false;
  std::string top;  // the group that the mount shows as its root
  fs::path folder;  // of that group
};

bool Contains(std::string_view list, std::string_view wanted) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == wanted) return true;
    begin = end + 1;
  }
  return false;
}

fs::path Under(const fs::path& root, const std::string& absolute) {
  return root / fs::path(absolute).relative_path();
}

std::vector<Hierarchy> MountedHierarchies(const fs::path& root) {
  std::vector<Hierarchy> found;
  std::ifstream file(Under(root, "/proc/self/mountinfo"));
  for (std::string line; std::getline(file, line);) {
    // id, parent, device, root, mount point, options, optional fields, "-", type, source, options
    std::istringstream words(line);
    std::string word, top, folder, type, source, options;
    words >> word >> word >> word >> top >> folder;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    const bool version2 = type == "cgroup2";
    if (version2 || (type == "cgroup" && Contains(options, "cpu")))
      found.push_back({version2, top, Under(root, folder)});
  }
  return found;
}

/// The process's group in that hierarchy, as a path from the hierarchy's root; empty: in none.
std::string GroupIn(const Hierarchy& hierarchy, const fs::path& root) {
  std::ifstream file(Under(root, "/proc/self/cgroup"));
  for (std::string line; std::getline(file, line);) {
    // number:controllers:path; version 2 has no controllers
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    if (hierarchy.version2 ? controllers.empty() : Contains(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return {};
}

/// How many processors' time this group alone may use.
double LimitOf(const fs::path& group, bool version2) {
  double quota = -1;
  double period = 0;
  if (version2) {
    std::ifstream(group / "cpu.max") >> quota >> period;  // "max 100000" leaves them as they are
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;  // -1: none
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : kUnlimited;
}

double LimitIn(const Hierarchy& hierarchy, const fs::path& root) {
  const fs::path group = GroupIn(hierarchy, root);
  if (group.empty()) return kUnlimited;
  // Of a group outside of what the mount shows, only the mount's own root can be seen.
  fs::path below = group.lexically_relative(hierarchy.top);
  if (below.empty() || *below.begin() == "..") below = ".";
  double limit = LimitOf(hierarchy.folder, hierarchy.version2);
  fs::path folder = hierarchy.folder;
  for (const fs::path& step : below) {
    folder /= step;
    limit = std::min(limit, LimitOf(folder, hierarchy.version2));
  }
  return limit;
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

int UsableProcessors(const fs::path& root) {
  double limit = std::max(1.0, static_cast<double>(AllowedProcessors().size()));
  for (const Hierarchy& hierarchy : MountedHierarchies(root))
    limit = std::min(limit, std::ceil(LimitIn(hierarchy, root)));
  return std::max(1, static_cast<int>(limit));
}

}  // namespace tunec
