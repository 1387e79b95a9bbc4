// Positions in several axes as row-major numbers. Internal to graph/onnx.
#pragma once

#include <vector>

#include "graph/onnx/handlers/formula.h"

namespace tunec::onnx_import {

/// Rows of the last axis of `indices` are positions in axes of these sizes, negative ones counted
/// from the end: their row-major numbers, i64, or `outside` for those out of range in some axis.
/// Constants out of range are an error.
Result<Formula> RowNumbers(const Formula& indices, const std::vector<int64_t>& sizes,
                           int64_t outside);

/// `index`, i64, brought to the nearest of -extent..extent-1 and counted from the start. What is
/// out of range is reported as a gather's index is.
Formula CheckedIndex(const Formula& index, int64_t extent);

}  // namespace tunec::onnx_import
