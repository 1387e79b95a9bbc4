#include "graph/onnx/parse_tensor.h"

#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/onnx/detach_weights.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

using onnx::TensorProto;

/// What a tensor's bytes must be.
struct Wanted {
  DataType type;
  std::vector<int64_t> shape;
  int64_t elements;
  size_t bytes() const { return static_cast<size_t>(elements) * SizeOf(type); }
};

Result<Wanted> ReadWanted(const TensorProto& tensor) {
  // 1 TiB is far above what can be loaded, and far below where sizes in bytes overflow.
  constexpr int64_t kMostElements = int64_t{1} << 37;
  TUNEC_ASSIGN(const DataType type, DataTypeOf(tensor.data_type()));
  std::vector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  const int64_t elements = ElementCount(shape);
  if (!IsShape(shape) || elements > kMostElements) {
    return Fail(ErrorCode::kParse, "shape [{}] has a negative dimension or too many elements",
                fmt::join(shape, ","));
  }
  return Wanted{type, std::move(shape), elements};
}

Array CopyOf(const Wanted& wanted, const std::byte* data) {
  Array array(wanted.type, wanted.shape);
  if (wanted.elements > 0) std::memcpy(array.mutable_data(), data, wanted.bytes());
  return array;
}

/// Shares the bytes when they are aligned to the element, else copies them.
Array ShareOrCopy(const Wanted& wanted, std::shared_ptr<const void> owner, const std::byte* data) {
  if (reinterpret_cast<uintptr_t>(data) % SizeOf(wanted.type) != 0) return CopyOf(wanted, data);
  return Array(wanted.type, wanted.shape, std::move(owner), {data, wanted.bytes()});
}

Result<Array> DecodeRaw(TensorProto& tensor, const Wanted& wanted,
                        std::span<const std::byte> detached) {
  const size_t size = detached.empty() ? tensor.raw_data().size() : detached.size();
  if (size != wanted.bytes()) {
    return Fail(ErrorCode::kParse, "raw data has {} bytes, wanted {} for {} elements of {}", size,
                wanted.bytes(), wanted.elements, Name(wanted.type));
  }
  if (!detached.empty()) {
    const auto copy = CopyToLargePages(detached);
    return Array(wanted.type, wanted.shape, copy, {copy.get(), size});
  }
  const auto owner = std::make_shared<const std::string>(std::move(*tensor.mutable_raw_data()));
  return ShareOrCopy(wanted, owner, reinterpret_cast<const std::byte*>(owner->data()));
}

/// Elements kept in a typed field: one per entry, narrowed to the element type.
template <class Element, class Field>
Result<Array> DecodeField(const Field& field, const Wanted& wanted) {
  if (static_cast<int64_t>(field.size()) != wanted.elements) {
    return Fail(ErrorCode::kParse, "data field has {} elements, wanted {}", field.size(),
                wanted.elements);
  }
  Array array(wanted.type, wanted.shape);
  if (wanted.elements == 0) return array;
  auto* out = reinterpret_cast<Element*>(array.mutable_data());
  for (const auto value : field) *out++ = static_cast<Element>(value);
  return array;
}

Result<Array> DecodeFields(const TensorProto& tensor, const Wanted& wanted) {
  switch (wanted.type) {
    case DataType::kF32:
      return DecodeField<float>(tensor.float_data(), wanted);
    case DataType::kF64:
      return DecodeField<double>(tensor.double_data(), wanted);
    case DataType::kI64:
      return DecodeField<int64_t>(tensor.int64_data(), wanted);
    case DataType::kU64:
      return DecodeField<uint64_t>(tensor.uint64_data(), wanted);
    case DataType::kU32:
      return DecodeField<uint32_t>(tensor.uint64_data(), wanted);
    case DataType::kI32:
      return DecodeField<int32_t>(tensor.int32_data(), wanted);
    case DataType::kI16:
      return DecodeField<int16_t>(tensor.int32_data(), wanted);
    case DataType::kI8:
      return DecodeField<int8_t>(tensor.int32_data(), wanted);
    case DataType::kU8:
      return DecodeField<uint8_t>(tensor.int32_data(), wanted);
    case DataType::kU16:
    case DataType::kF16:  // bits, not values
    case DataType::kBF16:
      return DecodeField<uint16_t>(tensor.int32_data(), wanted);
    case DataType::kBool: {
      std::vector<bool> bits(tensor.int32_data().begin(), tensor.int32_data().end());
      return DecodeField<uint8_t>(bits, wanted);
    }
  }
  return Fail(ErrorCode::kInternal, "unknown element type");
}

Result<uint64_t> ParseNumber(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Fail(ErrorCode::kParse, "external data {} is '{}', wanted a non-negative number", key,
                text);
  }
  return value;
}

Result<Array> DecodeExternal(const TensorProto& tensor, const Wanted& wanted,
                             ExternalFiles& files) {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = wanted.bytes();
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") {
      TUNEC_ASSIGN(offset, ParseNumber(entry.key(), entry.value()));
    }
    if (entry.key() == "length") {
      TUNEC_ASSIGN(length, ParseNumber(entry.key(), entry.value()));
    }
  }
  if (length != wanted.bytes()) {
    return Fail(ErrorCode::kParse, "external data has {} bytes, wanted {} for {} elements of {}",
                length, wanted.bytes(), wanted.elements, Name(wanted.type));
  }
  TUNEC_ASSIGN(const auto file, files.Open(location));
  const size_t available = file->bytes().size();
  if (offset > available || length > available - offset) {
    return Fail(ErrorCode::kParse, "external data [{}, +{}) lies outside '{}' of {} bytes", offset,
                length, location, available);
  }
  return ShareOrCopy(wanted, file, file->bytes().data() + offset);
}

Result<Array> Decode(TensorProto& tensor, ExternalFiles& files,
                     std::span<const std::byte> detached) {
  TUNEC_ASSIGN(const Wanted wanted, ReadWanted(tensor));
  if (tensor.has_segment()) return Fail(ErrorCode::kUnsupported, "tensor comes in segments");
  if (tensor.data_location() == onnx::TensorProto_DataLocation_EXTERNAL) {
    return DecodeExternal(tensor, wanted, files);
  }
  if (tensor.has_raw_data() || !detached.empty()) return DecodeRaw(tensor, wanted, detached);
  return DecodeFields(tensor, wanted);
}

}  // namespace

Result<DataType> DataTypeOf(int64_t onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto_DataType_FLOAT:
      return DataType::kF32;
    case onnx::TensorProto_DataType_DOUBLE:
      return DataType::kF64;
    case onnx::TensorProto_DataType_FLOAT16:
      return DataType::kF16;
    case onnx::TensorProto_DataType_BFLOAT16:
      return DataType::kBF16;
    case onnx::TensorProto_DataType_INT8:
      return DataType::kI8;
    case onnx::TensorProto_DataType_INT16:
      return DataType::kI16;
    case onnx::TensorProto_DataType_INT32:
      return DataType::kI32;
    case onnx::TensorProto_DataType_INT64:
      return DataType::kI64;
    case onnx::TensorProto_DataType_UINT8:
      return DataType::kU8;
    case onnx::TensorProto_DataType_UINT16:
      return DataType::kU16;
    case onnx::TensorProto_DataType_UINT32:
      return DataType::kU32;
    case onnx::TensorProto_DataType_UINT64:
      return DataType::kU64;
    case onnx::TensorProto_DataType_BOOL:
      return DataType::kBool;
    case onnx::TensorProto_DataType_STRING:
      return Fail(ErrorCode::kUnsupported, "element type string is not supported");
    default:
      return Fail(ErrorCode::kUnsupported, "element type {} is not supported", onnx_type);
  }
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::Open(const std::string& location) {
  if (!folder_) {
    return Fail(ErrorCode::kUnsupported, "external data '{}' of a model that is not a file",
                location);
  }
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  TUNEC_ASSIGN(auto file, MappedFile::OpenConfined(*folder_, location));
  return files_.emplace(location, std::move(file)).first->second;
}

Result<Array> DecodeTensor(TensorProto& tensor, ExternalFiles& files,
                           std::span<const std::byte> detached) {
  auto array = Decode(tensor, files, detached);
  if (!array) {
    return Fail(array.error().code, "tensor '{}': {}", tensor.name(), array.error().message);
  }
  return array;
}

}  // namespace tunec::onnx_import
