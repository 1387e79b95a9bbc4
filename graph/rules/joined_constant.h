// Computation of constants from constants in rules, with a check that the element type can
// represent the result.
#pragma once

#include "graph/rules/instantiate.h"

namespace tunec {

/// Returns whether no element is infinite or NaN. O(elements).
bool IsFinite(const Array& array);

/// Returns whether the float type can represent `exact`. A finite number must stay finite, and a
/// denormal number must not lose more than the type's rounding.
bool HoldsNumber(DataType type, double exact);

/// Returns the result of a node whose operands are constants, or nothing if the element type cannot
/// represent the result. If all operands are finite, the result must be finite. The rounding error
/// of a denormal element may be at most the type's rounding of the greatest magnitude in the
/// element's row, and of that in its column. So small weights among large weights can become 0, but
/// the factor of a channel cannot. Denormal results of sums are not checked, because the sums'
/// terms are larger. Denormal results of casts and in float64 are not checked either.
std::optional<Array> JoinConstants(const Node& node, std::span<const Array> operands,
                                   const ValueType& type);

}  // namespace tunec
