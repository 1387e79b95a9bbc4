// What a caller must know of a tensor that enters or leaves: name, element type, shape.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/data_type.h"
#include "support/error.h"

namespace tunec {

struct TensorSpec {
  std::string name;
  DataType type = DataType::kF32;
  std::vector<int64_t> shape;  // row-major, dense
  bool operator==(const TensorSpec&) const = default;
};

/// Bytes of the dense tensor. kInvalidArgument when a dimension is negative or the size exceeds
/// 2^56 bytes.
Result<int64_t> ByteSize(const TensorSpec& spec);

/// "2x3", for messages.
std::string JoinSizes(std::span<const int64_t> sizes);

/// "f32[2x3]", for messages.
std::string FormatType(const TensorSpec& spec);

}  // namespace tunec
