// Description of an input or output for callers: name, element type, shape.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/data_type.h"
#include "support/error.h"

namespace tunec {

/// The name, element type and shape of a tensor.
struct TensorSpec {
  std::string name;
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;  // row-major, dense
  bool operator==(const TensorSpec&) const = default;
};

/// Returns the size of the dense tensor in bytes. Fails with kInvalidArgument if a dimension is
/// negative or the size exceeds 2^56 bytes.
Result<int64_t> ByteSize(const TensorSpec& spec);

/// Returns the sizes as text, such as "2x3".
std::string JoinSizes(std::span<const int64_t> sizes);

/// Returns the type and the shape as text, such as "f32[2x3]".
std::string FormatType(const TensorSpec& spec);

}  // namespace tunec
