#include "db/tables/sketch_names.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace tunec {
namespace {

constexpr std::string_view kField = "sketch=";
constexpr std::string_view kTile = "tile";

// Returns whether `name` is `tile`, with or without a number after it.
bool IsNumberedTile(std::string_view name) {
  if (!name.starts_with(kTile)) return false;
  const std::string_view number = name.substr(kTile.size());
  return std::ranges::all_of(number, [](char c) { return '0' <= c && c <= '9'; });
}

// Returns the rest of the first line that begins with `word` and a blank; none if no line does.
std::optional<std::string_view> LineOf(std::string_view schedule, std::string_view word) {
  while (!schedule.empty()) {
    const size_t end = std::min(schedule.find('\n'), schedule.size());
    const std::string_view line = schedule.substr(0, end);
    schedule.remove_prefix(std::min(end + 1, schedule.size()));
    if (line.starts_with(word) && line.substr(word.size()).starts_with(' ')) {
      return line.substr(word.size() + 1);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string WithNamedSketch(std::string_view note, std::string_view schedule) {
  const std::string_view word = note.substr(0, note.find(' '));
  const size_t slash = word.rfind('/');
  const bool numbered = word.starts_with(kField) && slash != std::string_view::npos &&
                        IsNumberedTile(word.substr(slash + 1));
  const std::optional<std::string_view> split = LineOf(schedule, "split");
  if (!numbered || !split) return std::string(note);
  const std::string_view loop = split->substr(0, split->find(' '));
  std::string named(word.substr(0, slash + 1));
  named.append(kTile).append("/").append(loop.substr(loop.rfind('.') + 1));
  if (LineOf(schedule, "widen")) named += "/wide";
  return named.append(note.substr(word.size()));
}

}  // namespace tunec
