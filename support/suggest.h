// Functions that find the known word that is nearest to a misspelt word.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tunec {

/// Returns the least number of edits that turn `from` into `to`. An edit inserts, removes or
/// replaces a letter, or swaps two adjacent letters; no letter is edited twice. Takes time
/// O(|from| |to|).
size_t EditDistance(std::string_view from, std::string_view to);

/// Returns the first of the nearest `known` words. Returns an empty word if no known word is near
/// or `word` is known. A known word is near if the number of edits is at most a third of the
/// letters of `word`, or 1. If there is no such word, the first known word that begins with `word`
/// is near; `word` must then have at least two letters.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> known);

/// Returns "; did you mean WORD?" with the NearestWord, or an empty string if that word is empty.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> known);

}  // namespace tunec
