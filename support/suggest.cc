#include "support/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tunec {
namespace {

constexpr size_t kShortestAbbreviation = 2;

size_t NearEnough(std::string_view word) { return std::max<size_t>(1, word.size() / 3); }

}  // namespace

// Computes the edit distances of all pairs of prefixes, row by row. Only the current row and the
// two rows before are stored.
size_t EditDistance(std::string_view from, std::string_view to) {
  std::array<std::vector<size_t>, 3> rows;
  for (std::vector<size_t>& row : rows) row.resize(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    std::vector<size_t>& row = rows[i % 3];
    const std::vector<size_t>& above = rows[(i + 2) % 3];
    const std::vector<size_t>& twice_above = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], twice_above[j - 2] + 1);
    }
  }
  return rows[from.size() % 3][to.size()];
}

std::string_view NearestWord(std::string_view word, std::span<const std::string_view> known) {
  if (std::ranges::find(known, word) != known.end()) return {};
  std::string_view nearest;
  size_t least = NearEnough(word) + 1;
  for (const std::string_view candidate : known) {
    if (candidate.empty()) continue;
    if (const size_t distance = EditDistance(word, candidate); distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  if (!nearest.empty() || word.size() < kShortestAbbreviation) return nearest;
  const auto longer = std::ranges::find_if(
      known, [&](std::string_view candidate) { return candidate.starts_with(word); });
  return longer == known.end() ? nearest : *longer;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = NearestWord(word, known);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

}  // namespace tunec
