#include "tests/fuzz/reason_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

namespace tunec::fuzz {
namespace {

std::string WithoutNumbers(const std::string& reason) {
  std::string group;
  bool quoted = false;
  for (const char c : reason) {
    if (c == '\'') quoted = !quoted;
    const bool digit = c >= '0' && c <= '9';
    if (!quoted && !(digit && group.ends_with('#'))) group += digit ? '#' : c;
  }
  return group;
}

}  // namespace

// Removes quoted text. Replaces numbers, and most words after "node", "constant" and "output".
std::string WithoutNames(const std::string& reason) {
  std::istringstream words(WithoutNumbers(reason));
  std::string group, before;
  for (std::string word; words >> word; before = word) {
    const bool name = before == "node" || before == "constant" || before == "output";
    if (!group.empty()) group += ' ';
    group += name && word != "depends" && word != "is" ? "..." : word;
  }
  return group;
}

void PrintRejections(const std::map<std::string, int>& rejections) {
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [reason, times] : rejections) sorted.emplace_back(times, reason);
  std::ranges::sort(sorted, std::greater<>());
  for (const auto& [times, reason] : sorted) fmt::print("rejected {:6}: {}\n", times, reason);
}

}  // namespace tunec::fuzz
