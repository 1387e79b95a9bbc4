// Sorting of rows by operators of the graph. Internal to graph/onnx.
#pragma once

#include <cstdint>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// Returns the positions of the k greatest (or least) elements along the axis, best first. Equal
/// elements are in the order of their positions. The result is i64 with k elements in the axis. NaN
/// is greater than infinity. The positions of a row are always different. Requires: 0 <= axis <
/// rank, 1 <= k <= elements of the axis. Work for a row of n elements: at most n * log(k)^2
/// comparisons, none of which depends on data.
Formula FirstPlaces(const Formula& x, int64_t axis, int64_t k, bool largest);

}  // namespace tunec::onnx_import
