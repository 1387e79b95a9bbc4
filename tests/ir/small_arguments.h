// A function that returns arguments with few bits, so that short sums of products are exact.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/array.h"
#include "ir/loop_nest.h"

namespace tunec::test {

/// Returns the inputs and weights. Floats are eighths from -14/8 to 15/8. Signed integers are -14
/// to 15 times `unit`, and unsigned integers are 1 to 30 times `unit`.
inline std::vector<Array> SmallArguments(const LoopNest& nest, int64_t unit = 1) {
  std::vector<Array> arguments;
  int64_t count = 1;
  for (const TensorId id : Arguments(nest)) {
    const Tensor& tensor = nest.tensors[id];
    if (tensor.role == TensorRole::kOutput) continue;
    Array array(tensor.type, tensor.shape);
    for (int64_t i = 0; i < array.size(); ++i, count = count * 29 % 31) {
      if (IsFloat(tensor.type)) {
        array.SetDouble(i, static_cast<double>(count - 15) / 8);
      } else {
        array.SetInt(i, unit * (IsSigned(tensor.type) ? count - 15 : count));
      }
    }
    arguments.push_back(std::move(array));
  }
  return arguments;
}

}  // namespace tunec::test
