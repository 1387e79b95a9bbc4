// Indices that number exact elements, in a graph where these lie among padded ones. Internal to
// graph/pad.
#pragma once

#include <vector>

#include "graph/pad/padder.h"

namespace tunec::pad {

/// Whether operand i is constant and numbers elements of these extents, none from the end.
bool CountFromStart(const PaddedNode& node, size_t i, const Series& extents);

/// Indices, counted from the start; those that are out of range are less than 0 or at least
/// `total`.
struct ExactNumbers {
  ValueId indices;
  std::vector<ValueId> extents;  // of each part of the axis, exact ones; scalars
  ValueId total;                 // their product
  ValueId zero;
  ValueId one;
};
/// Of operand i, which numbers the exact elements of an axis, or from its exact end. The type
/// becomes one that holds the padded extent.
Result<ExactNumbers> CountExact(PaddedNode& node, size_t i, const Axis& along);

/// Numbers of exact elements as numbers of padded ones: the same digits, of other extents.
Result<ValueId> Embed(PaddedNode& node, ValueId numbers, const Axis& along,
                      const std::vector<ValueId>& extents);

/// Whether places of the axis of one operand are places of the axis of data.
bool LiesWithin(const Axis& axis, const Axis& data);

}  // namespace tunec::pad
