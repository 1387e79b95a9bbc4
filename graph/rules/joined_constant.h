// Computation of constants from constants in rules, with a check that the element type can
// represent the result.
#pragma once

#include "graph/rules/instantiate.h"

namespace tunec {

/// Returns whether no element is infinite or NaN. O(elements).
bool IsFinite(const Array& array);

/// Returns whether the float type can represent `exact`. A finite number must stay finite. The
/// relative error of a number below the normal range must be at most the type's unit roundoff.
bool HoldsNumber(DataType type, double exact);

/// Returns the result of a node whose operands are constants. Returns nothing if the node cannot be
/// computed or the element type cannot represent the result. If all operands are finite, the result
/// must be finite. A denormal element is compared with the greatest magnitude of each slice that
/// contains the element, such as a row and a column. The element's error must not exceed the
/// rounding error of any of these magnitudes. So small weights among large weights can become 0,
/// but the factor of a channel cannot. Denormal results of sums, casts and float64 are not checked.
std::optional<Array> JoinConstants(const Node& node, std::span<const Array> operands,
                                   const ValueType& type);

}  // namespace tunec
