#include "support/control_groups.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tunec {
namespace {

namespace fs = std::filesystem;

/// A mounted hierarchy of groups that may have the controller.
struct Hierarchy {
  bool version2 = false;
  std::string top;  // the group that the mount shows as its root
  fs::path folder;  // folder of the group `top`
};

bool Contains(std::string_view list, std::string_view item) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == item) return true;
    begin = end + 1;
  }
  return false;
}

fs::path Under(const fs::path& root, const std::string& absolute) {
  return root / fs::path(absolute).relative_path();
}

std::vector<Hierarchy> MountedHierarchies(const fs::path& root, std::string_view controller) {
  std::vector<Hierarchy> found;
  std::ifstream file(Under(root, "/proc/self/mountinfo"));
  for (std::string line; std::getline(file, line);) {
    // A line has the fields id, parent, device, root, mount point, mount options, optional fields,
    // "-", type, source, and options of the file system.
    std::istringstream words(line);
    std::string word, top, folder, type, source, options;
    words >> word >> word >> word >> top >> folder;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    const bool version2 = type == "cgroup2";
    if (version2 || (type == "cgroup" && Contains(options, controller)))
      found.push_back({version2, top, Under(root, folder)});
  }
  return found;
}

/// Returns the group of the process in the hierarchy, as a path from the hierarchy's root. Returns
/// an empty string if /proc/self/cgroup names no group.
std::string GroupIn(const Hierarchy& hierarchy, const fs::path& root, std::string_view controller) {
  std::ifstream file(Under(root, "/proc/self/cgroup"));
  for (std::string line; std::getline(file, line);) {
    // The format of a line is number:controllers:path. A line of version 2 names no controllers.
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    if (hierarchy.version2 ? controllers.empty() : Contains(controllers, controller))
      return line.substr(second + 1);
  }
  return {};
}

double LimitIn(const Hierarchy& hierarchy, const fs::path& root, const GroupLimit& limit_of) {
  const fs::path group = GroupIn(hierarchy, root, limit_of.controller);
  if (group.empty()) return kNoGroupLimit;
  // If the group is outside the mounted part, only the root of the mount can be read.
  fs::path below = group.lexically_relative(hierarchy.top);
  if (below.empty() || *below.begin() == "..") below = ".";
  double limit = limit_of.read(hierarchy.folder, hierarchy.version2);
  fs::path folder = hierarchy.folder;
  for (const fs::path& step : below) {
    folder /= step;
    limit = std::min(limit, limit_of.read(folder, hierarchy.version2));
  }
  return limit;
}

}  // namespace

double LeastGroupLimit(const GroupLimit& limit, const fs::path& root) {
  double least = kNoGroupLimit;
  for (const Hierarchy& hierarchy : MountedHierarchies(root, limit.controller))
    least = std::min(least, LimitIn(hierarchy, root, limit));
  return least;
}

}  // namespace tunec
