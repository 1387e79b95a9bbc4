// Rows put in order, by operators that the graph has. Internal to graph/onnx.
#pragma once

#include <cstdint>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// The places of the k greatest (or least) elements of each row, best first, equal ones in the
/// order of their places: i64 [..., k] of x [..., n]. NaN counts as infinity; whatever the
/// elements, places of a row differ. Requires: 1 <= k <= n.
/// Work for each row: n * log(k)^2 comparisons, of which none depends on data.
Formula FirstPlaces(const Formula& x, int64_t k, bool largest);

}  // namespace tunec::onnx_import
