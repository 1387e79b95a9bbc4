// The names of loop kinds and scopes in the text form of a LoopNest, and a search for a name.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "ir/loop_nest.h"

namespace tunec {

// The names of all loop kinds and of all scopes, in the order of the enumerators.
inline constexpr std::array<std::string_view, 12> kLoopKindNames = {
    "serial", "parallel", "vector",  "unrolled", "grid.x", "grid.y",
    "grid.z", "block.x",  "block.y", "block.z",  "warp",   "wave"};
inline constexpr std::array<std::string_view, 6> kScopeNames = {"global",   "packed", "shared",
                                                                "register", "tile",   "fragment"};

inline std::string_view Name(LoopKind kind) { return kLoopKindNames.at(static_cast<size_t>(kind)); }
inline std::string_view Name(Scope scope) { return kScopeNames.at(static_cast<size_t>(scope)); }

template <class Enumeration, size_t kCount>
std::optional<Enumeration> FindWord(const std::array<std::string_view, kCount>& words,
                                    std::string_view word) {
  for (size_t i = 0; i < kCount; ++i) {
    if (words[i] == word) return static_cast<Enumeration>(i);
  }
  return std::nullopt;
}

}  // namespace tunec
