// Functions that compare the outputs of a model with expected outputs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/compare_arrays.h"
#include "ir/array.h"
#include "runtime/tensor_spec.h"

namespace tunec {

/// Compares outputs with expected outputs. Returns one error for each spec. Requires: `actual` and
/// `expected` have one array for each spec, of equal shapes.
std::vector<OutputError> CompareOutputs(std::span<const TensorSpec> specs,
                                        std::span<const Array> actual,
                                        std::span<const Array> expected);
double GreatestRelative(std::span<const OutputError> errors);

}  // namespace tunec
