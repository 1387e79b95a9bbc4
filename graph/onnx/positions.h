// Positions in several axes as row-major numbers. Internal to graph/onnx.
#pragma once

#include <vector>

#include "graph/onnx/formula.h"

namespace tunec::onnx_import {

/// Rows of the last axis of `indices` are positions in axes of these sizes, negative ones counted
/// from the end: their row-major numbers, i64.
Formula RowNumbers(const Formula& indices, const std::vector<int64_t>& sizes);

}  // namespace tunec::onnx_import
