// Functions that fill, crop and check padded values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/pad/pad_graph.h"
#include "ir/array.h"
#include "support/random.h"

namespace tunec {

/// Returns the padded position for each exact position of an axis at these sizes.
std::vector<int64_t> ExactPositions(const PaddedAxis& axis, const SizeValues& sizes);

/// Returns the exact elements of a padded value at these sizes. Requires: SizesProblem returns an
/// empty string.
Array Crop(const Array& padded, const std::vector<PaddedAxis>& axes, const SizeValues& sizes);

/// Returns an array of random garbage for the padding. Floats are NaN, infinite, very large or 7.
/// About a third of the float arrays are all NaN. Integers are the extremes, 0, -1 or arbitrary.
/// Booleans are random.
Array Garbage(DataType type, std::vector<int64_t> shape, Random& random);

/// Copies `exact` to the beginning of every axis of `padded`.
void CopyIntoPadded(const Array& exact, Array& padded);

/// Returns an error message if the axes at these sizes do not have both shapes, or if a part has
/// more exact than padded positions. Otherwise returns an empty string.
std::string SizesProblem(const std::vector<PaddedAxis>& axes, const SizeValues& sizes,
                         const std::vector<int64_t>& exact, const std::vector<int64_t>& padded);

}  // namespace tunec
