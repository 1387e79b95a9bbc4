// Checks of DLPack tensors against the specs of inputs, outputs and weights.
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

/// Returns the DLPack type of elements of `type`, with one lane.
DLDataType DlpackType(DataType type);

/// Returns the shape of a tensor. Fails with kInvalidArgument if the tensor is null or its shape is
/// not the spec's shape. A negative size of the spec matches every size that is not negative. Only
/// the shape is read. Error messages begin with `what` ("input", "output", "weight") and the spec's
/// name.
Result<std::span<const int64_t>> CheckedShape(const DLTensor* tensor, const TensorSpec& spec,
                                              std::string_view what);

/// The address of a tensor's first element, in host or device memory. The byte offset is included
/// unless the tensor's `data` is null; the address is then also null.
struct TensorData {
  void* data = nullptr;
  BufferLocation location = BufferLocation::kHost;
};

/// Returns the data of a tensor. Fails with kInvalidArgument if the tensor is null, does not have
/// the spec's type (8-bit kDLUInt also fits bool), fails CheckedShape or is not dense in `order`.
/// Also fails if the tensor is neither in host memory nor on the GPU with the number `device`;
/// without a number, every GPU is rejected. A null address is not an error. Error messages begin
/// with `what` ("input", "output", "weight") and the spec's name.
Result<TensorData> CheckedData(const DLTensor* tensor, const TensorSpec& spec,
                               const AxisOrder& order, std::string_view what,
                               std::optional<int> device);

}  // namespace tunec
