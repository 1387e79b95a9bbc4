// Parts of an index: what storage orders make dimensions of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "ir/expr/index_expr.h"

namespace tunec {

/// floor((i mod modulus) / divisor); without a modulus floor(i / divisor).
struct IndexPart {
  int64_t modulus = 0;  // 0: none
  int64_t divisor = 1;

  IndexExpr Of(const IndexExpr& index) const {
    return IndexExpr::FloorDiv(modulus > 0 ? IndexExpr::Mod(index, modulus) : index, divisor);
  }
  /// How many values it has, of an index below `extent`.
  int64_t Extent(int64_t extent) const {
    return CeilDivide(modulus > 0 ? modulus : extent, divisor);
  }
  bool operator==(const IndexPart&) const = default;
};

/// Parts of one index, the one of the greatest steps first.
inline void SortParts(std::vector<IndexPart>& parts) {
  const auto steps = [](const IndexPart& part) {
    // Of equal divisors the part without a modulus is the outer one.
    return std::pair(part.divisor, part.modulus == 0);
  };
  std::ranges::sort(parts, std::greater<>(), steps);
}

/// Whether sorted parts tell every index, and no two of them the same of it: i/32, i%32/2, i%2.
inline bool AreWhole(const std::vector<IndexPart>& parts) {
  if (parts.empty() || parts.front().modulus != 0 || parts.back().divisor != 1) return false;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].modulus != parts[i - 1].divisor) return false;
    if (parts[i].modulus % parts[i].divisor != 0) return false;
  }
  return true;
}

/// The factors that split a loop over the index into loops over its sorted parts; none for one.
inline std::vector<int64_t> FactorsOf(const std::vector<IndexPart>& parts) {
  std::vector<int64_t> factors;
  for (size_t i = 1; i < parts.size(); ++i)
    factors.push_back(parts[i - 1].divisor / parts[i].divisor);
  return factors;
}

}  // namespace tunec
