// Indices that number exact elements, in a graph whose values also have padded elements. Internal
// to graph/pad.
#pragma once

#include <vector>

#include "graph/pad/padder.h"

namespace tunec::pad {

/// Returns whether operand i is a constant that numbers elements of these extents from the start
/// only.
bool CountFromStart(const PaddedNode& node, size_t i, const Series& extents);

/// Indices counted from the start. Indices out of range are less than 0 or at least `total`.
struct ExactNumbers {
  ValueId indices;
  std::vector<ValueId> extents;  // the exact extent of each part of the axis; scalars
  ValueId total;                 // their product
  ValueId zero;
  ValueId one;
};
/// Returns the indices of operand i, which number the exact elements of an axis from its start or
/// from its exact end. They get a type that holds the padded extent.
Result<ExactNumbers> CountExact(PaddedNode& node, size_t i, const Axis& along);

/// Converts numbers of exact elements to numbers of padded elements: the digits are equal, but the
/// extents differ.
Result<ValueId> Embed(PaddedNode& node, ValueId numbers, const Axis& along,
                      const std::vector<ValueId>& extents);

/// Returns whether positions on the axis of one operand are positions on the axis of the data.
bool LiesWithin(const Axis& axis, const Axis& data);

}  // namespace tunec::pad
