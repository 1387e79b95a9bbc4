// Constants that rules compute from constants, if the element type can hold them.
#pragma once

#include "graph/rules/instantiate.h"

namespace tunec {

/// Returns whether all elements are finite. O(elements).
bool IsFinite(const Array& array);

/// Returns whether the type can hold the number `exact`. A finite number must not become infinite,
/// and a denormal number must not lose more than the type's rounding.
bool HoldsNumber(DataType type, double exact);

/// Returns the result of a node whose operands are constants; nullopt if the element type cannot
/// hold it. A finite result must not become infinite. A denormal result may lose as much as the
/// type's rounding of the greatest magnitude in the same row and in the same column. So small
/// weights among large ones may vanish, but a channel's factor may not. Sums are not checked,
/// because their terms are larger. Casts are not checked either.
std::optional<Array> JoinConstants(const Node& node, std::span<const Array> operands,
                                   const ValueType& type);

}  // namespace tunec
