#include "api/run/dlpack.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "api/run/tensor_shape.h"

namespace tunec {
namespace {

// DLPack's type code kDLBool, which the dlpack.h of Debian 12 does not declare.
constexpr uint8_t kBoolCode = 6;
// DLPack's device types as integers. Old versions of dlpack.h have other names for them, such as
// kDLGPU.
constexpr int kCpu = 1;
constexpr int kCuda = 2;
constexpr int kCudaHost = 3;  // host memory that GPUs can access

bool IsCompatible(const DLDataType& given, DataType expected) {
  const DLDataType type = DlpackType(expected);
  if (given.bits != type.bits || given.lanes != 1) return false;
  return given.code == type.code || (expected == DataType::kBool && given.code == kDLUInt);
}

std::string TypeText(const DLDataType& type) {
  static constexpr std::string_view kCodes[] = {"i", "u", "f", "handle", "bf", "complex", "bool"};
  const std::string code = type.code < std::size(kCodes) ? std::string(kCodes[type.code])
                                                         : fmt::format("code{}:", type.code);
  const std::string lanes = type.lanes == 1 ? "" : fmt::format("x{}", type.lanes);
  return fmt::format("{}{}{}", code, type.bits, lanes);
}

std::string ShapeText(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, "x"));
}

// Returns the text of a spec's shape. A negative size, which matches every size, is printed as
// "any".
std::string SpecShapeText(std::span<const int64_t> shape) {
  std::vector<std::string> sizes;
  for (const int64_t size : shape) sizes.push_back(size < 0 ? "any" : std::to_string(size));
  return fmt::format("[{}]", fmt::join(sizes, "x"));
}

std::string OrderText(const AxisOrder& order) {
  if (order.empty()) return "row-major";
  return fmt::format("with axes {}, outermost first", fmt::join(order, ","));
}

std::string DeviceText(const DLDevice& device) {
  const auto type = static_cast<int>(device.device_type);
  if (type == kCuda) return fmt::format("GPU {}", device.device_id);
  return fmt::format("DLPack device {}", type);
}

// Returns the location of a tensor: host memory, or the GPU `number`. Fails with kInvalidArgument
// for any other device. Without a number, every GPU is another device.
Result<BufferLocation> LocationOf(const DLDevice& device, std::optional<int> number) {
  const auto type = static_cast<int>(device.device_type);
  if (type == kCpu || type == kCudaHost) return BufferLocation::kHost;
  if (type == kCuda && number == device.device_id) return BufferLocation::kDevice;
  return Fail(ErrorCode::kInvalidArgument, "is on {}, expected the CPU ({}){}", DeviceText(device),
              kCpu, number ? fmt::format(" or GPU {}, which runs the model", *number) : "");
}

}  // namespace

DLDataType DlpackType(DataType type) {
  const auto bits = static_cast<uint8_t>(8 * SizeOf(type));
  if (type == DataType::kBool) return {kBoolCode, bits, 1};
  if (type == DataType::kBF16) return {kDLBfloat, bits, 1};
  if (IsFloat(type)) return {kDLFloat, bits, 1};
  return {static_cast<uint8_t>(IsSigned(type) ? kDLInt : kDLUInt), bits, 1};
}

Result<std::span<const int64_t>> CheckedShape(const DLTensor* tensor, const TensorSpec& spec,
                                              std::string_view what) {
  const auto wrong = [&](const std::string& problem) {
    return Fail(ErrorCode::kInvalidArgument, "{} '{}' {}", what, spec.name, problem);
  };
  if (tensor == nullptr) return wrong(fmt::format("is null, expected {}", FormatType(spec)));
  // The array `shape` has `ndim` elements, so `ndim` is compared before they are read.
  if (tensor->ndim != static_cast<int64_t>(spec.shape.size()))
    return wrong(fmt::format("has {} dimensions, expected {} of shape {}", tensor->ndim,
                             spec.shape.size(), SpecShapeText(spec.shape)));
  if (tensor->ndim > 0 && tensor->shape == nullptr) return wrong("has no shape");
  const std::span<const int64_t> shape = ShapeOf(*tensor);
  const auto fits = [](int64_t given, int64_t expected) {
    return expected < 0 ? given >= 0 : given == expected;
  };
  if (std::ranges::equal(shape, spec.shape, fits)) return shape;
  return wrong(
      fmt::format("has shape {}, expected {}", ShapeText(shape), SpecShapeText(spec.shape)));
}

Result<TensorData> CheckedData(const DLTensor* tensor, const TensorSpec& spec,
                               const AxisOrder& order, std::string_view what,
                               std::optional<int> device) {
  const auto wrong = [&](const std::string& problem) {
    return Fail(ErrorCode::kInvalidArgument, "{} '{}' {}", what, spec.name, problem);
  };
  if (tensor == nullptr) return wrong(fmt::format("is null, expected {}", FormatType(spec)));
  const Result<BufferLocation> location = LocationOf(tensor->device, device);
  if (!location) return wrong(location.error().message);
  if (!IsCompatible(tensor->dtype, spec.type))
    return wrong(fmt::format("has type {}, expected {}", TypeText(tensor->dtype), Name(spec.type)));
  TUNEC_ASSIGN(const std::span<const int64_t> shape, CheckedShape(tensor, spec, what));
  if (!IsDenseIn(shape, tensor->strides, order))
    return wrong(fmt::format("has strides that are not dense {}", OrderText(order)));
  if (tensor->data == nullptr) return TensorData{nullptr, *location};
  return TensorData{static_cast<std::byte*>(tensor->data) + tensor->byte_offset, *location};
}

}  // namespace tunec
