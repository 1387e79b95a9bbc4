// What a misspelt word may have meant.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tunec {

/// The fewest letters to insert, remove, replace, or swap with a neighbour that turn `from` into
/// `to`; no letter is edited twice. O(|from| |to|).
size_t EditDistance(std::string_view from, std::string_view to);

/// The first of the nearest `known` words; empty when none is near, or the word is one of them.
/// Near is a third of the word's letters, at least one, or a word that `word` abbreviates by two
/// letters or more.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> known);

/// "; did you mean WORD?" for the end of a message, or nothing.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> known);

}  // namespace tunec
