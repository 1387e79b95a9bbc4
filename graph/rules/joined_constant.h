// Computation of constants from constants in rules, with a check that the element type can
// represent the result.
#pragma once

#include "graph/rules/instantiate.h"

namespace tunec {

/// Returns false if an element is infinite or NaN. O(elements).
bool IsFinite(const Array& array);

/// Returns true if the type can represent `exact`. A finite number may not become infinite, and a
/// denormal number may not lose more than the type's rounding.
bool HoldsNumber(DataType type, double exact);

/// Returns the result of a node whose operands are constants, or nothing if the element type cannot
/// represent the result. If all operands are finite, the result must be finite. The rounding error
/// of a denormal element may be at most the type's rounding of the greatest magnitude in the
/// element's row, and of that in its column. So small weights among large weights may become 0, but
/// the factor of a channel may not. Denormal results of sums are not checked, because the sums'
/// terms are larger. Results of casts are not checked either.
std::optional<Array> JoinConstants(const Node& node, std::span<const Array> operands,
                                   const ValueType& type);

}  // namespace tunec
