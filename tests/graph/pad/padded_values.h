// The position of an exact value inside a padded value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/pad/pad_graph.h"
#include "ir/array.h"
#include "support/random.h"

namespace tunec {

/// Returns the padded position for each exact position of an axis.
std::vector<int64_t> ExactPositions(const PaddedAxis& axis);

/// Returns the exact elements of a padded value.
Array Crop(const Array& padded, const std::vector<PaddedAxis>& axes);

/// Returns garbage for the padding: NaN, infinities and the largest floats, or the extreme and
/// other integers, or random booleans.
Array Garbage(DataType type, std::vector<int64_t> shape, Random& random);

/// Copies `exact` to the beginning of every axis of `padded`.
void CopyIntoPadded(const Array& exact, Array& padded);

/// Returns an error message if the axes do not have the sizes of both shapes, otherwise an empty
/// string.
std::string SizesProblem(const std::vector<PaddedAxis>& axes, const std::vector<int64_t>& exact,
                         const std::vector<int64_t>& padded);

}  // namespace tunec
