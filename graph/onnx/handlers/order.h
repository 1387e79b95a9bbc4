// Rows put in order, by operators that the graph has. Internal to graph/onnx.
#pragma once

#include <cstdint>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// The places of the k greatest (or least) elements along the axis, best first, equal ones in the
/// order of their places: i64, k of them in the axis. NaN is greater than infinity; whatever the
/// elements, places of a row differ. Requires: 0 <= axis < rank, 1 <= k <= elements of the axis.
/// Work for a row of n: at most n * log(k)^2 comparisons, of which none depends on data.
Formula FirstPlaces(const Formula& x, int64_t axis, int64_t k, bool largest);

}  // namespace tunec::onnx_import
