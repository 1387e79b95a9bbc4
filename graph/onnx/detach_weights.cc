#include "graph/onnx/detach_weights.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tunec::onnx_import {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint64_t kGraphOfModel = 7;
constexpr uint64_t kInitializerOfGraph = 5;
constexpr uint64_t kRawDataOfTensor = 9;
/// Smaller tensors are not worth the detour.
constexpr size_t kLeastDetached = 64 << 10;

/// One field of a message in protobuf's wire format.
struct Field {
  uint64_t number = 0;
  bool has_length = false;  // bytes, a string or a message
  Bytes content;            // of one that has a length
  Bytes whole;              // with tag and length
};

/// Reads fields one after the other; nothing where the bytes make no field.
class FieldReader {
 public:
  explicit FieldReader(Bytes message) : rest_(message) {}
  bool AtEnd() const { return rest_.empty(); }

  std::optional<Field> Next() {
    const Bytes start = rest_;
    const auto tag = Varint();
    if (!tag) return std::nullopt;
    Field field;
    field.number = *tag >> 3;
    std::optional<uint64_t> size;
    switch (*tag & 7) {
      case 0:
        size = Varint() ? std::optional<uint64_t>(0) : std::nullopt;
        break;
      case 1:
        size = 8;
        break;
      case 2:
        size = Varint();
        field.has_length = true;
        break;
      case 5:
        size = 4;
        break;
      default:
        break;  // groups: not in ONNX
    }
    if (!size || *size > rest_.size()) return std::nullopt;
    field.content = rest_.first(*size);
    rest_ = rest_.subspan(*size);
    field.whole = start.first(start.size() - rest_.size());
    return field;
  }

 private:
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  Bytes rest_;
};

void Append(std::string& message, Bytes bytes) {
  message.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void AppendMessage(std::string& message, uint64_t number, const std::string& content) {
  const auto append = [&](uint64_t value) {
    for (; value >= 0x80; value >>= 7) message += static_cast<char>(value | 0x80);
    message += static_cast<char>(value);
  };
  append(number << 3 | 2);
  append(content.size());
  message += content;
}

/// The TensorProto without its raw_data, which goes to `raw_data`.
std::optional<std::string> DetachTensor(Bytes tensor, Bytes& raw_data) {
  std::string message;
  for (FieldReader fields(tensor); !fields.AtEnd();) {
    const auto field = fields.Next();
    if (!field) return std::nullopt;
    if (field->number != kRawDataOfTensor || !field->has_length) {
      Append(message, field->whole);
    } else if (!raw_data.empty()) {
      return std::nullopt;
    } else {
      raw_data = field->content;
    }
  }
  return message;
}

std::optional<std::string> DetachGraph(Bytes graph, std::vector<Bytes>& raw_data) {
  std::string message;
  for (FieldReader fields(graph); !fields.AtEnd();) {
    const auto field = fields.Next();
    if (!field) return std::nullopt;
    if (field->number != kInitializerOfGraph || !field->has_length) {
      Append(message, field->whole);
      continue;
    }
    raw_data.emplace_back();
    if (field->content.size() < kLeastDetached) {
      Append(message, field->whole);
      continue;
    }
    const auto tensor = DetachTensor(field->content, raw_data.back());
    if (!tensor) return std::nullopt;
    AppendMessage(message, kInitializerOfGraph, *tensor);
  }
  return message;
}

}  // namespace

std::optional<DetachedWeights> DetachWeights(std::span<const std::byte> model) {
  DetachedWeights detached;
  bool has_graph = false;
  for (FieldReader fields(model); !fields.AtEnd();) {
    const auto field = fields.Next();
    if (!field) return std::nullopt;
    if (field->number != kGraphOfModel || !field->has_length) {
      Append(detached.message, field->whole);
      continue;
    }
    if (has_graph) return std::nullopt;
    has_graph = true;
    const auto graph = DetachGraph(field->content, detached.raw_data);
    if (!graph) return std::nullopt;
    AppendMessage(detached.message, kGraphOfModel, *graph);
  }
  return detached;
}

std::shared_ptr<const std::byte> CopyToLargePages(std::span<const std::byte> bytes) {
  constexpr size_t kPage = 2 << 20;
  const size_t page = bytes.size() < kPage ? 64 : kPage;
  const size_t rounded = (bytes.size() + page - 1) / page * page;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(page, rounded));
  if (memory == nullptr) throw std::bad_alloc();  // import.cc turns it into an error
  std::shared_ptr<const std::byte> owner(
      memory, [](const std::byte* p) { std::free(const_cast<std::byte*>(p)); });
  if (page == kPage) madvise(memory, rounded, MADV_HUGEPAGE);  // a wish: may fail
  std::memcpy(memory, bytes.data(), bytes.size());
  return owner;
}

}  // namespace tunec::onnx_import
