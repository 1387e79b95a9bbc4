// Where an exact value lies in a padded one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/pad/pad_graph.h"
#include "ir/array.h"
#include "support/random.h"

namespace tunec {

/// Of each exact position of an axis, the padded one.
std::vector<int64_t> ExactPositions(const PaddedAxis& axis);

/// The exact elements of a padded value.
Array Crop(const Array& padded, const std::vector<PaddedAxis>& axes);

/// What is beyond the exact elements: anything that the type has.
Array Garbage(DataType type, std::vector<int64_t> shape, Random& random);

/// `exact` at the beginning of every axis of `padded`.
void Place(const Array& exact, Array& padded);

/// Empty when the axes have the sizes of both shapes.
std::string SizesProblem(const std::vector<PaddedAxis>& axes, const std::vector<int64_t>& exact,
                         const std::vector<int64_t>& padded);

}  // namespace tunec
