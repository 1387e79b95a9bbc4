#include "graph/onnx/file/parse_tensor.h"

#include <fmt/ranges.h>
#include <sys/mman.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

/// The type, shape and size that a tensor's bytes must have.
struct TensorHeader {
  DataType type;
  std::vector<int64_t> shape;
  int64_t elements;
  size_t bytes() const { return static_cast<size_t>(elements) * SizeOf(type); }
};

Result<TensorHeader> ReadHeader(const OnnxTensor& tensor) {
  // Greatest number of elements. They have up to 1 TiB, which is far more than can be loaded. With
  // this limit, sizes in bytes do not overflow.
  constexpr int64_t kMostElements = int64_t{1} << 37;
  TUNEC_ASSIGN(const DataType type, DataTypeOf(tensor.data_type));
  std::vector<int64_t> shape = tensor.dims;
  const int64_t elements = ElementCount(shape);
  if (!IsShape(shape) || elements > kMostElements) {
    return Fail(ErrorCode::kParse, "shape [{}] has a negative dimension or too many elements",
                fmt::join(shape, ","));
  }
  return TensorHeader{type, std::move(shape), elements};
}

Array CopyOf(const TensorHeader& header, const std::byte* data) {
  Array array(header.type, header.shape);
  if (header.elements > 0) std::memcpy(array.mutable_data(), data, header.bytes());
  return array;
}

/// Returns an array that shares the bytes if they are aligned to the element type, else a copy.
Array ShareOrCopy(const TensorHeader& header, std::shared_ptr<const void> owner,
                  const std::byte* data) {
  if (reinterpret_cast<uintptr_t>(data) % SizeOf(header.type) != 0) return CopyOf(header, data);
  return Array(header.type, header.shape, std::move(owner), {data, header.bytes()});
}

/// Copies the bytes to huge pages, or to memory aligned to 64 bytes if they are less than 2 MiB.
/// With small pages the page faults take two seconds per GiB, more than the rest of an import.
std::shared_ptr<const std::byte> CopyToLargePages(Bytes bytes) {
  constexpr size_t kPage = 2 << 20;
  const size_t page = bytes.size() < kPage ? 64 : kPage;
  const size_t rounded = (bytes.size() + page - 1) / page * page;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(page, rounded));
  if (memory == nullptr) throw std::bad_alloc();  // import.cc turns this into an error
  std::shared_ptr<const std::byte> owner(
      memory, [](const std::byte* p) { std::free(const_cast<std::byte*>(p)); });
  if (page == kPage) madvise(memory, rounded, MADV_HUGEPAGE);  // only advice, which may fail
  std::memcpy(memory, bytes.data(), bytes.size());
  return owner;
}

Result<Array> DecodeRaw(Bytes raw, const TensorHeader& header) {
  constexpr size_t kLeastOnLargePages = 64 << 10;
  if (raw.size() != header.bytes()) {
    return Fail(ErrorCode::kParse, "raw data has {} bytes, expected {} for {} elements of {}",
                raw.size(), header.bytes(), header.elements, Name(header.type));
  }
  if (raw.size() < kLeastOnLargePages) return CopyOf(header, raw.data());
  const auto copy = CopyToLargePages(raw);
  return Array(header.type, header.shape, copy, {copy.get(), raw.size()});
}

/// Decodes elements that are stored in a typed field: one per entry, narrowed to the element type.
template <class Element>
Result<Array> DecodeField(const std::vector<uint64_t>& field, const TensorHeader& header) {
  if (static_cast<int64_t>(field.size()) != header.elements) {
    return Fail(ErrorCode::kParse, "data field has {} elements, expected {}", field.size(),
                header.elements);
  }
  Array array(header.type, header.shape);
  if (header.elements == 0) return array;
  auto* out = reinterpret_cast<Element*>(array.mutable_data());
  for (const uint64_t value : field) *out++ = static_cast<Element>(value);
  return array;
}

Result<Array> DecodeFields(const OnnxTensor& tensor, const TensorHeader& header) {
  switch (header.type) {
    case DataType::kF32:
      return DecodeField<uint32_t>(tensor.float_data, header);
    case DataType::kF64:
      return DecodeField<uint64_t>(tensor.double_data, header);
    case DataType::kI64:
      return DecodeField<uint64_t>(tensor.int64_data, header);
    case DataType::kU64:
      return DecodeField<uint64_t>(tensor.uint64_data, header);
    case DataType::kU32:
      return DecodeField<uint32_t>(tensor.uint64_data, header);
    case DataType::kI32:
      return DecodeField<uint32_t>(tensor.int32_data, header);
    case DataType::kI16:
    case DataType::kU16:
    case DataType::kF16:  // stored as bits, not as values
    case DataType::kBF16:
      return DecodeField<uint16_t>(tensor.int32_data, header);
    case DataType::kI8:
    case DataType::kU8:
      return DecodeField<uint8_t>(tensor.int32_data, header);
    case DataType::kBool: {
      std::vector<uint64_t> bits = tensor.int32_data;
      for (uint64_t& bit : bits) bit = static_cast<uint32_t>(bit) != 0 ? 1 : 0;
      return DecodeField<uint8_t>(bits, header);
    }
  }
  return Fail(ErrorCode::kInternal, "unknown element type");
}

Result<uint64_t> ParseNumber(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Fail(ErrorCode::kParse, "external data {} is '{}', expected a non-negative number", key,
                text);
  }
  return value;
}

Result<Array> DecodeExternal(const OnnxTensor& tensor, const TensorHeader& header,
                             ExternalFiles& files) {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = header.bytes();
  for (const auto& [key, value] : tensor.external_data) {
    if (key == "location") location = value;
    if (key == "offset") {
      TUNEC_ASSIGN(offset, ParseNumber(key, value));
    }
    if (key == "length") {
      TUNEC_ASSIGN(length, ParseNumber(key, value));
    }
  }
  if (length != header.bytes()) {
    return Fail(ErrorCode::kParse, "external data has {} bytes, expected {} for {} elements of {}",
                length, header.bytes(), header.elements, Name(header.type));
  }
  TUNEC_ASSIGN(const auto file, files.Open(location));
  const size_t available = file->bytes().size();
  if (offset > available || length > available - offset) {
    return Fail(ErrorCode::kParse, "external data [{}, +{}) is outside '{}' of {} bytes", offset,
                length, location, available);
  }
  return ShareOrCopy(header, file, file->bytes().data() + offset);
}

Result<Array> Decode(const OnnxTensor& tensor, ExternalFiles& files) {
  TUNEC_ASSIGN(const TensorHeader header, ReadHeader(tensor));
  if (tensor.in_segments)
    return Fail(ErrorCode::kUnsupported, "tensor in segments is not supported");
  if (tensor.is_external) return DecodeExternal(tensor, header, files);
  if (tensor.raw_data) return DecodeRaw(*tensor.raw_data, header);
  return DecodeFields(tensor, header);
}

bool Append(std::vector<uint64_t>& numbers, const WireField& field, WireType element) {
  const auto more = RepeatedNumbers(field, element);
  if (more) numbers.insert(numbers.end(), more->begin(), more->end());
  return more.has_value();
}

bool AppendExternal(OnnxTensor& tensor, Bytes entry) {
  auto& [key, value] = tensor.external_data.emplace_back();
  WireReader fields(entry);
  while (const auto field = fields.Next()) {
    if (field->tag == BytesTag(1)) key = field->Text();
    if (field->tag == BytesTag(2)) value = field->Text();
  }
  return !fields.Malformed();
}

/// Reads one field. Returns false if the field's content is malformed.
bool TakeField(OnnxTensor& tensor, const WireField& field) {
  constexpr uint64_t kExternal = 1;
  switch (field.tag) {
    case VarintTag(1):
    case BytesTag(1): {
      const auto dims = RepeatedNumbers(field, WireType::kVarint);
      if (dims) tensor.dims.insert(tensor.dims.end(), dims->begin(), dims->end());
      return dims.has_value();
    }
    case VarintTag(2):
      tensor.data_type = static_cast<int32_t>(field.number);
      return true;
    case BytesTag(3):
      tensor.in_segments = true;
      return true;
    case FloatTag(4):
    case BytesTag(4):
      return Append(tensor.float_data, field, WireType::kFixed32);
    case VarintTag(5):
    case BytesTag(5):
      return Append(tensor.int32_data, field, WireType::kVarint);
    case VarintTag(7):
    case BytesTag(7):
      return Append(tensor.int64_data, field, WireType::kVarint);
    case BytesTag(8):
      tensor.name = field.Text();
      return true;
    case BytesTag(9):
      tensor.raw_data = field.bytes;
      return true;
    case DoubleTag(10):
    case BytesTag(10):
      return Append(tensor.double_data, field, WireType::kFixed64);
    case VarintTag(11):
    case BytesTag(11):
      return Append(tensor.uint64_data, field, WireType::kVarint);
    case BytesTag(13):
      return AppendExternal(tensor, field.bytes);
    case VarintTag(14):
      tensor.is_external = field.number == kExternal;
      return true;
    default:
      return true;
  }
}

}  // namespace

std::optional<OnnxTensor> ReadTensor(const Pieces& pieces) {
  OnnxTensor tensor;
  for (const Bytes piece : pieces) {
    WireReader fields(piece);
    while (const auto field = fields.Next())
      if (!TakeField(tensor, *field)) return std::nullopt;
    if (fields.Malformed()) return std::nullopt;
  }
  return tensor;
}

Result<DataType> DataTypeOf(int64_t onnx_type) {
  switch (onnx_type) {
    case kFloat:
      return DataType::kF32;
    case kDouble:
      return DataType::kF64;
    case kFloat16:
      return DataType::kF16;
    case kBfloat16:
      return DataType::kBF16;
    case kInt8:
      return DataType::kI8;
    case kInt16:
      return DataType::kI16;
    case kInt32:
      return DataType::kI32;
    case kInt64:
      return DataType::kI64;
    case kUint8:
      return DataType::kU8;
    case kUint16:
      return DataType::kU16;
    case kUint32:
      return DataType::kU32;
    case kUint64:
      return DataType::kU64;
    case kBool:
      return DataType::kBool;
    case kString:
      return Fail(ErrorCode::kUnsupported, "element type string is not supported");
    default:
      return Fail(ErrorCode::kUnsupported, "element type {} is not supported", onnx_type);
  }
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::Open(const std::string& location) {
  if (!folders_) {
    return Fail(
        ErrorCode::kUnsupported,
        "external data '{}' of a model that is not a file; set the option external_data to its "
        "folder",
        location);
  }
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  FileStamp stamp = StampOf(std::filesystem::path(folders_->named) / location);
  TUNEC_ASSIGN(auto file, MappedFile::OpenConfined(*folders_, location));
  stamps_.push_back(std::move(stamp));
  return files_.emplace(location, std::move(file)).first->second;
}

Result<Array> DecodeTensor(const OnnxTensor& tensor, ExternalFiles& files) {
  auto array = Decode(tensor, files);
  if (!array) {
    return Fail(array.error().code, "tensor '{}': {}", tensor.name, array.error().message);
  }
  return array;
}

}  // namespace tunec::onnx_import
