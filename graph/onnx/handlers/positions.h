// Functions that convert positions to flattened or checked indices. Only graph/onnx uses this file.
#pragma once

#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// Returns the flattened row-major indices, i64, of positions in axes of these sizes. A position is
/// a row of the last axis of `indices`; negative indices count from the end. A position out of
/// range in some axis gets the index `outside`. Fails for constants out of range.
Result<Formula> RowNumbers(const Formula& indices, const std::vector<Dim>& sizes,
                           const Dim& outside);

/// Returns `index`, i64, clamped to -extent..extent-1 and counted from the start. An index out of
/// range is reported like a gather's index.
Formula CheckedIndex(const Formula& index, const Dim& extent);

}  // namespace tunec::onnx_import
