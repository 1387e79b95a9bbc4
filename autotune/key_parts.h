// Splitting of the target texts of tuning keys into parts, and comparison of keys by their parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/records.h"

namespace tunec {

struct KeyPart {
  std::string name;   // `cpu`, `features`, `l3`, `threads`, `accuracy`, ...
  std::string value;  // for `features`: comma-separated names
  bool operator==(const KeyPart&) const = default;
};

/// Returns the parts of the text that Print(Target) writes, with or without an accuracy, in order.
/// A text of another form is one part.
std::vector<KeyPart> SplitTargetText(std::string_view target_text);

/// The differing parts of two keys, as one text for each key. An example is {"threads=2",
/// "threads=1"}.
struct KeyDifference {
  std::string there;
  std::string here;
  bool operator==(const KeyDifference&) const = default;
};
/// Compares targets, policies and schedule versions. Both texts are empty if all three agree.
KeyDifference Compare(const KeyUse& there, const KeyUse& here);

/// Returns a measure of how much two near targets differ. Near targets are hosts that differ only
/// in the sizes of caches, the number of cores or threads, or the accuracy. A cache or the cores
/// count 1, the threads 8, the accuracy 16. Returns none for all other pairs of targets, including
/// equal ones.
std::optional<int> NearDistance(std::string_view a, std::string_view b);

/// The parts that all targets share, and the remaining parts of each target, in the order of the
/// targets. Parts are joined by spaces.
struct DistinctTargets {
  std::string common;
  std::vector<std::string> own;
};
DistinctTargets FindDistinctTargets(const std::vector<std::string>& target_texts);

}  // namespace tunec
