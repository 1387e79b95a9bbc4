// Target texts of tuning keys taken apart, so that two can be compared for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/records.h"

namespace tunec {

struct KeyPart {
  std::string name;   // `cpu`, `features`, `l3`, `threads`, `accuracy`, ...
  std::string value;  // of features: their names with commas
  bool operator==(const KeyPart&) const = default;
};

/// The parts of what Print(Target) writes, with or without an accuracy, in their order. A text of
/// another form is one part.
std::vector<KeyPart> TakeApart(std::string_view target_text);

/// Where two keys differ, by what holds for each: {"threads=2", "threads=1"}.
struct KeyDifference {
  std::string there;
  std::string here;
  bool operator==(const KeyDifference&) const = default;
};
/// Empty texts for keys that agree.
KeyDifference Compare(const KeyUse& there, const KeyUse& here);

/// In how many parts two targets differ that are near: hosts of one processor, whose caches or
/// numbers of processors are said to be others. None: they are one target, or differ otherwise.
std::optional<int> NearDistance(std::string_view a, std::string_view b);

/// What tells targets apart: what all have in common, and what each has besides, in their order.
/// Parts are joined by spaces.
struct DistinctTargets {
  std::string common;
  std::vector<std::string> own;
};
DistinctTargets TellApart(const std::vector<std::string>& target_texts);

}  // namespace tunec
