// The constants that rules make of constants, if the element type holds them.
#pragma once

#include "graph/rules/instantiate.h"

namespace tunec {

/// Returns false if an element is infinite or NaN. O(elements).
bool IsFinite(const Array& array);

/// Returns true if the type has a number for `exact`. A finite number may not become infinite, and
/// a denormal one may not lose more than the type's rounding.
bool HoldsNumber(DataType type, double exact);

/// Returns the result of a node of constants, or nothing if the element type does not hold it. A
/// finite result may not become infinite. A denormal result may lose the type's rounding of the
/// greatest magnitude in the same row and in the same column. Small weights among large ones may
/// vanish so; the factor of a channel may not. Sums are not checked, since their terms are larger,
/// and neither are casts.
std::optional<Array> JoinConstants(const Node& node, std::span<const Array> operands,
                                   const ValueType& type);

}  // namespace tunec
