// Check of the shape of a caller's DLTensor, and access to the shape. Among tunec's headers, this
// file depends only on that of the C interface, so that the Python package can use the same check.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "api/include/tunec/tunec.h"

namespace tunec {

/// The maximum number of dimensions, the same as in NumPy 2.
inline constexpr int32_t kMostDimensions = 64;

/// Returns the fault of the tensor's shape, as words that follow the tensor's name in a message.
/// Returns nullopt if the sizes can be read and are not negative. `most` is the largest number of
/// dimensions.
inline std::optional<std::string> ShapeProblem(const DLTensor& tensor,
                                               int32_t most = kMostDimensions) {
  if (tensor.ndim < 0 || tensor.ndim > most)
    return "has " + std::to_string(tensor.ndim) + " dimensions, expected 0 to " +
           std::to_string(most);
  if (tensor.ndim > 0 && tensor.shape == nullptr) return "has no shape";
  const auto negative = [](int64_t size) { return size < 0; };
  if (std::any_of(tensor.shape, tensor.shape + tensor.ndim, negative))
    return "has a negative size in its shape";
  return std::nullopt;
}

/// Returns the sizes of a tensor. Requires: `shape` has `ndim` elements, and `ndim` >= 0.
inline std::span<const int64_t> ShapeOf(const DLTensor& tensor) {
  return {tensor.shape, static_cast<size_t>(tensor.ndim)};
}

}  // namespace tunec
