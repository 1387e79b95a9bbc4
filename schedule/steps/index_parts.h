// Parts of an index: quotients and remainders by a factor, and parts between two factors. The
// dimensions of a storage order may be such parts, as i/32 and i%32.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "ir/expr/index_expr.h"

namespace tunec {

/// The part floor((i mod modulus) / divisor), or floor(i / divisor) without a modulus.
struct IndexPart {
  int64_t modulus = 0;  // 0: no modulus
  int64_t divisor = 1;

  IndexExpr Of(const IndexExpr& index) const {
    return IndexExpr::FloorDiv(modulus > 0 ? IndexExpr::Mod(index, modulus) : index, divisor);
  }
  /// Returns an exclusive upper bound of the part, for an index below `extent`.
  int64_t Extent(int64_t extent) const {
    return CeilDivide(modulus > 0 ? modulus : extent, divisor);
  }
  bool operator==(const IndexPart&) const = default;
};

/// Sorts the parts of one index by divisor, largest first.
inline void SortParts(std::vector<IndexPart>& parts) {
  const auto steps = [](const IndexPart& part) {
    // Of two parts with equal divisors, the part without a modulus is the outer one.
    return std::pair(part.divisor, part.modulus == 0);
  };
  std::ranges::sort(parts, std::greater<>(), steps);
}

/// Checks that sorted parts determine the index without overlap: i/32, i%32/2, i%2.
inline bool AreWhole(const std::vector<IndexPart>& parts) {
  if (parts.empty() || parts.front().modulus != 0 || parts.back().divisor != 1) return false;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].modulus != parts[i - 1].divisor) return false;
    if (parts[i].modulus % parts[i].divisor != 0) return false;
  }
  return true;
}

/// Returns the factors that split a loop over the index into loops over its sorted parts. The list
/// is empty for one part.
inline std::vector<int64_t> FactorsOf(const std::vector<IndexPart>& parts) {
  std::vector<int64_t> factors;
  for (size_t i = 1; i < parts.size(); ++i)
    factors.push_back(parts[i - 1].divisor / parts[i].divisor);
  return factors;
}

}  // namespace tunec
