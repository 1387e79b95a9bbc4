// Indices that count only the exact elements of an axis, and their conversion to positions in the
// padded axis. Only graph/pad uses this file.
#pragma once

#include <vector>

#include "graph/pad/padder.h"

namespace tunec::pad {

/// Returns whether operand i is a constant with indices in 0..extent-1 at all sizes. So no index
/// counts from the end.
bool CountFromStart(const PaddedNode& node, size_t i, const SizeExpr& extent);

/// Indices counted from the start. Indices out of range are less than 0 or at least `total`.
struct ExactNumbers {
  ValueId indices;
  std::vector<ValueId> extents;  // the exact extent of each part of the axis; scalars
  ValueId total;                 // their product
  ValueId zero;
  ValueId one;
};
/// Returns the indices of operand i, counted from the start of the axis `along`. In the operand,
/// negative indices count from the exact end. Indices of fewer than 32 bits are converted to i32.
Result<ExactNumbers> CountExact(PaddedNode& node, size_t i, const Axis& along);

/// Converts positions in the exact axis to positions in the padded axis. `extents` are the exact
/// extents of the axis's parts. The position within each part does not change.
Result<ValueId> Embed(PaddedNode& node, ValueId numbers, const Axis& along,
                      const std::vector<ValueId>& extents);

}  // namespace tunec::pad
