#include "autotune/key_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "autotune/keys.h"

namespace tunec {
namespace {

constexpr std::string_view kFeatures = "features";

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string TextOf(const KeyPart& part) {
  if (part.name == kFeatures) return fmt::format("[{}]", part.value);
  if (part.name == "kind" || part.name == "cpu" || part.name.empty()) return part.value;
  return part.name + "=" + part.value;
}

const KeyPart* Find(const std::vector<KeyPart>& parts, const std::string& name) {
  const auto found = std::ranges::find(parts, name, &KeyPart::name);
  return found == parts.end() ? nullptr : &*found;
}

// Describes the features of `a` that `b` lacks. A long list is replaced by its count. The text for
// an empty list is "fewer processor features".
std::string Surplus(const KeyPart& a, const KeyPart& b) {
  constexpr size_t kMost = 4;
  const std::vector<std::string> all = Split(a.value, ',');
  const std::vector<std::string> theirs = Split(b.value, ',');
  const std::set<std::string> others(theirs.begin(), theirs.end());
  std::vector<std::string> surplus;
  std::ranges::copy_if(all, std::back_inserter(surplus),
                       [&](const std::string& name) { return !others.contains(name); });
  if (surplus.empty()) return "fewer processor features";
  if (surplus.size() > kMost) return fmt::format("{} more processor features", surplus.size());
  return fmt::format("processors with {}", fmt::join(surplus, " "));
}

std::string Differing(const std::vector<KeyPart>& parts, const std::vector<KeyPart>& others) {
  std::vector<std::string> texts;
  for (const KeyPart& part : parts) {
    const KeyPart* other = Find(others, part.name);
    if (other != nullptr && *other == part) continue;
    texts.push_back(part.name == kFeatures && other != nullptr ? Surplus(part, *other)
                                                               : TextOf(part));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

std::vector<KeyPart> AllParts(const KeyUse& key) {
  std::vector<KeyPart> parts = SplitTargetText(key.target);
  parts.push_back({IsPrediction(key.policy) ? "times" : "measured", key.policy});
  parts.push_back({"schedule_language", fmt::format("{}", key.schedule_version)});
  return parts;
}

}  // namespace

std::vector<KeyPart> SplitTargetText(std::string_view target_text) {
  const size_t open = target_text.find('[');
  const size_t close = target_text.find(']', open);
  std::vector<KeyPart> whole = {{"", std::string(target_text)}};
  if (open == std::string_view::npos || close == std::string_view::npos) return whole;
  const std::vector<std::string> names = Split(target_text.substr(0, open), ' ');
  if (names.size() != 2) return whole;
  std::vector<KeyPart> parts = {
      {"kind", names[0]},
      {"cpu", names[1]},
      {std::string(kFeatures), std::string(target_text.substr(open + 1, close - open - 1))}};
  for (const std::string& word : Split(target_text.substr(close + 1), ' ')) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return whole;
    parts.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return parts;
}

KeyDifference Compare(const KeyUse& there, const KeyUse& here) {
  const std::vector<KeyPart> theirs = AllParts(there);
  const std::vector<KeyPart> ours = AllParts(here);
  return {Differing(theirs, ours), Differing(ours, theirs)};
}

std::optional<int> NearDistance(std::string_view a, std::string_view b) {
  static const std::map<std::string, int> kDistances = {
      {"l1", 1}, {"l2", 1}, {"l3", 1}, {"cores", 1}, {"threads", 8}, {"accuracy", 16}};
  const std::vector<KeyPart> ours = SplitTargetText(a);
  const std::vector<KeyPart> theirs = SplitTargetText(b);
  const bool hosts = ours.front() == KeyPart{"kind", "cpu"} && ours.size() == theirs.size();
  if (!hosts) return std::nullopt;
  int distance = 0;
  for (size_t p = 0; p < ours.size(); ++p) {
    if (ours[p] == theirs[p]) continue;
    const auto found = kDistances.find(ours[p].name);
    if (found == kDistances.end() || ours[p].name != theirs[p].name) return std::nullopt;
    distance += found->second;
  }
  return distance > 0 ? std::optional(distance) : std::nullopt;
}

DistinctTargets FindDistinctTargets(const std::vector<std::string>& target_texts) {
  std::vector<std::vector<KeyPart>> targets;
  for (const std::string& text : target_texts) targets.push_back(SplitTargetText(text));
  DistinctTargets distinct;
  if (targets.empty()) return distinct;
  const auto shared = [&](const KeyPart& part) {
    return std::ranges::all_of(targets, [&](const std::vector<KeyPart>& parts) {
      const KeyPart* same = Find(parts, part.name);
      return same != nullptr && *same == part;
    });
  };
  const auto text_of = [&](const std::vector<KeyPart>& parts, bool common) {
    std::vector<std::string> texts;
    for (const KeyPart& part : parts) {
      if (shared(part) == common) texts.push_back(TextOf(part));
    }
    return fmt::format("{}", fmt::join(texts, " "));
  };
  distinct.common = text_of(targets.front(), true);
  for (const std::vector<KeyPart>& parts : targets) distinct.own.push_back(text_of(parts, false));
  return distinct;
}

}  // namespace tunec
