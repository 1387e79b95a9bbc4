// DLPack tensors against what an executable wants.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "api/include/tunec/tunec.h"
#include "ir/axis_order.h"
#include "runtime/executable.h"
#include "runtime/tensor_spec.h"
#include "support/error.h"

namespace tunec {

/// The type as DLPack states it.
DLDataType DlpackType(DataType type);

/// Returns the shape of a tensor, once it is known to be the spec's, in which a negative size
/// stands for any. Nothing else of the tensor is read. `what` and the spec's name begin the message
/// of an error.
Result<std::span<const int64_t>> CheckedShape(const DLTensor* tensor, const TensorSpec& spec,
                                              std::string_view what);

/// Where a tensor's elements lie.
struct TensorData {
  void* data = nullptr;
  BufferPlace place = BufferPlace::kHost;
};

/// Of a tensor that is of the spec's type and shape, in which a negative size stands for any, is
/// dense in this order, and lies in the host's memory or in that of the GPU with the number
/// `device`. `what` ("input", "output") and the spec's name begin the message of an error.
Result<TensorData> CheckedData(const DLTensor* tensor, const TensorSpec& spec,
                               const AxisOrder& order, std::string_view what,
                               std::optional<int> device);

}  // namespace tunec
