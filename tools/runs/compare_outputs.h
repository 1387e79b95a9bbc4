// How far the outputs of a model are from what they should be.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/compare_arrays.h"
#include "ir/array.h"
#include "runtime/tensor_spec.h"

namespace tunec {

/// One for each spec.
std::vector<OutputError> CompareOutputs(std::span<const TensorSpec> specs,
                                        std::span<const Array> actual,
                                        std::span<const Array> expected);
double GreatestRelative(std::span<const OutputError> errors);

}  // namespace tunec
