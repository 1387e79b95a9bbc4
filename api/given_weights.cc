#include "api/given_weights.h"

#include <span>

#include "api/run/dlpack.h"
#include "api/run/tensor_shape.h"

namespace tunec {

DLTensor GivenWeights::Description::WithOwnShape() const {
  DLTensor own = tensor;
  own.shape = const_cast<int64_t*>(shape.data());
  own.strides = strides.empty() ? nullptr : const_cast<int64_t*>(strides.data());
  return own;
}

Result<GivenWeights> GivenWeights::Make(size_t count, const char* const* names,
                                        const DLTensor* const* tensors) {
  GivenWeights weights;
  if (count > 0 && (names == nullptr || tensors == nullptr))
    return Fail(ErrorCode::kInvalidArgument, "the array of {} is null",
                names == nullptr ? "names" : "weights");
  for (size_t i = 0; i < count; ++i) {
    if (names[i] == nullptr || tensors[i] == nullptr)
      return Fail(ErrorCode::kInvalidArgument, "{} {} is null",
                  names[i] == nullptr ? "name" : "weight", i);
    const DLTensor& tensor = *tensors[i];
    if (const auto problem = ShapeProblem(tensor))
      return Fail(ErrorCode::kInvalidArgument, "weight '{}' {}", names[i], *problem);
    const std::span<const int64_t> shape = ShapeOf(tensor);
    Description description{tensor, {shape.begin(), shape.end()}, {}};
    if (tensor.strides != nullptr)
      description.strides.assign(tensor.strides, tensor.strides + shape.size());
    if (!weights.tensors_.emplace(names[i], std::move(description)).second)
      return Fail(ErrorCode::kInvalidArgument, "there are two weights '{}'", names[i]);
  }
  return weights;
}

Result<Array> GivenWeights::Reserve(const WeightRequest& request) const {
  const auto found = tensors_.find(request.name);
  if (found == tensors_.end())
    return Fail(ErrorCode::kNotFound, "weight '{}' is not among those given", request.name);
  const TensorSpec spec{request.name, request.type, request.shape};
  const DLTensor given = found->second.WithOwnShape();
  TUNEC_ASSIGN(const TensorData tensor,
               CheckedData(&given, spec, AxisOrder(), "weight", /*device=*/std::nullopt));
  const size_t size = SizeOf(request.type);
  const auto bytes = static_cast<size_t>(ElementCount(request.shape)) * size;
  if (bytes == 0) return Array(request.type, request.shape);
  if (tensor.data == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "weight '{}' has no data", request.name);
  if (reinterpret_cast<uintptr_t>(tensor.data) % size != 0)
    return Fail(ErrorCode::kInvalidArgument,
                "weight '{}' is not aligned to its element of {} bytes", request.name, size);
  // The caller owns the bytes, so the deleter of this pointer does nothing.
  const std::shared_ptr<const void> owner(tensor.data, [](const void*) {});
  return Array(request.type, request.shape, owner,
               {static_cast<const std::byte*>(tensor.data), bytes});
}

}  // namespace tunec
