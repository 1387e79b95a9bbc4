// A function that finds the greatest or least elements of rows by graph operators. Only graph/onnx
// uses this file.
#pragma once

#include <cstdint>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// Returns the positions of the k greatest (or least) elements along the axis, the greatest (or
/// least) first. Equal elements are in the order of their positions. The result is i64 with k
/// elements in the axis. NaN is greater than infinity. The positions of a row are always different.
/// Requires: 0 <= axis < rank, 1 <= k <= elements of the axis. Fails if x has more than
/// kMostElements elements, or if the axis has a named size. The number of comparisons does not
/// depend on the data.
Formula FirstPositions(const Formula& x, int64_t axis, int64_t k, bool largest);

}  // namespace tunec::onnx_import
