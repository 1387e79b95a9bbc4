// Limits of control groups, of version 1 and 2. The effective limit is the least one from the
// process's group up to the root of the hierarchy.
//
// The file /proc/self/cgroup names the group. The file /proc/self/mountinfo names the folder where
// a hierarchy is mounted, and the group that is the root there.
#pragma once

#include <filesystem>
#include <limits>
#include <string_view>

namespace tunec {

inline constexpr double kNoGroupLimit = std::numeric_limits<double>::infinity();

/// A kind of limit: the controller that enforces the limit, and a function to read it.
struct GroupLimit {
  std::string_view controller;  // "cpu", "memory"
  /// Returns the limit of the group in this folder alone, or kNoGroupLimit.
  double (*read)(const std::filesystem::path& group, bool version2);
};

/// Returns the least limit of the mounted groups that contain this process, or kNoGroupLimit. The
/// paths of /proc and of the mounted folders are taken relative to `root`.
double LeastGroupLimit(const GroupLimit& limit, const std::filesystem::path& root);

}  // namespace tunec
