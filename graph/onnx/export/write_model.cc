#include "graph/onnx/export/write_model.h"

#include <limits>

#include "graph/onnx/file/parse_tensor.h"
#include "graph/onnx/file/wire_format.h"
#include "ir/size/size_text.h"
#include "support/check.h"

namespace tunec::onnx_export {
namespace {

using onnx_import::OnnxAttribute;
using onnx_import::OnnxGraph;
using onnx_import::OnnxNode;
using onnx_import::OnnxValue;
using onnx_import::WireWriter;

constexpr int64_t kIrVersion = 9;       // the first with opset 20
constexpr size_t kLeastOutside = 1024;  // smaller constants (shapes, scalars) stay in the model
constexpr int64_t kAlignment = int64_t{1} << 12;

bool IsWeight(const Array& array) { return array.bytes() >= kLeastOutside; }

void WriteType(const Array& array, WireWriter& tensor) {
  for (const int64_t size : array.shape()) tensor.Varint(1, size);
  tensor.Varint(2, OnnxTypeOf(array.type()));
}

void WriteBytes(const Array& array, WireWriter& tensor) {
  tensor.Raw(9, {array.data(), array.bytes()});
}

void WriteLocation(const WeightOffset& weight, const std::string& file, WireWriter& tensor) {
  const auto add = [&](std::string_view key, std::string_view value) {
    WireWriter entry;
    entry.Text(1, key);
    entry.Text(2, value);
    tensor.Message(13, entry);
  };
  add("location", file);
  add("offset", std::to_string(weight.offset));
  add("length", std::to_string(weight.array->bytes()));
  tensor.Varint(14, 1);  // data_location EXTERNAL
}

WireWriter ValueProto(const OnnxValue& value) {
  WireWriter proto;
  proto.Text(1, value.name);
  if (!value.type || !value.dims) return proto;
  WireWriter shape;  // present but empty for a scalar
  for (const Dim& dim : *value.dims) {
    WireWriter to;
    dim.IsConstant() ? to.Varint(1, dim.Value()) : to.Text(2, dim.AsName().value_or(Print(dim)));
    shape.Message(1, to);
  }
  WireWriter tensor;
  tensor.Varint(1, OnnxTypeOf(*value.type));
  tensor.Message(2, shape);
  WireWriter type;
  type.Message(1, tensor);
  proto.Message(2, type);
  return proto;
}

/// A writer of one attribute's value and kind (AttributeProto.AttributeType).
struct AttributeWriter {
  WireWriter& proto;

  void operator()(int64_t value) const {
    proto.Varint(3, value);
    Kind(2);
  }
  void operator()(double value) const {
    proto.Float(2, static_cast<float>(value));
    Kind(1);
  }
  void operator()(const std::string& value) const {
    proto.Text(4, value);
    Kind(3);
  }
  void operator()(const std::vector<int64_t>& values) const {
    for (const int64_t value : values) proto.Varint(8, value);
    Kind(7);
  }
  void operator()(const std::vector<double>& values) const {
    for (const double value : values) proto.Float(7, static_cast<float>(value));
    Kind(6);
  }
  void operator()(const Array& array) const {
    WireWriter tensor;
    WriteType(array, tensor);
    WriteBytes(array, tensor);
    proto.Message(5, tensor);
    Kind(4);
  }
  template <class Other>
  void operator()(const Other&) const {
    TUNEC_UNREACHABLE("an attribute of a kind that no exported operator has");
  }

 private:
  void Kind(int64_t kind) const { proto.Varint(20, kind); }
};

WireWriter NodeProto(const OnnxNode& node) {
  WireWriter proto;
  for (const std::string& input : node.inputs) proto.Text(1, input);
  for (const std::string& output : node.outputs) proto.Text(2, output);
  proto.Text(3, node.name);
  proto.Text(4, node.op_type);
  for (const auto& [name, value] : node.attributes) {
    WireWriter attribute;
    attribute.Text(1, name);
    std::visit(AttributeWriter{attribute}, value);
    proto.Message(5, attribute);
  }
  return proto;
}

void WriteInitializers(const ExportedModel& model, const std::string& data_file,
                       WireWriter& graph) {
  const std::vector<WeightOffset> offsets = LayOutWeights(model);
  size_t next = 0;
  for (const auto& [name, array] : model.graph.initializers) {
    WireWriter tensor;
    WriteType(array, tensor);
    tensor.Text(8, name);
    const bool outside = !data_file.empty() && IsWeight(array);
    if (outside) WriteLocation(offsets[next], data_file, tensor);
    if (!outside) WriteBytes(array, tensor);
    if (IsWeight(array)) ++next;
    graph.Message(5, tensor);
  }
}

WireWriter GraphProto(const ExportedModel& model, const std::string& data_file) {
  const OnnxGraph& graph = model.graph;
  WireWriter proto;
  for (const OnnxNode& node : graph.nodes) proto.Message(1, NodeProto(node));
  proto.Text(2, graph.name);
  WriteInitializers(model, data_file, proto);
  for (const OnnxValue& input : graph.inputs) proto.Message(11, ValueProto(input));
  for (const OnnxValue& output : graph.outputs) proto.Message(12, ValueProto(output));
  for (const OnnxValue& value : model.values) proto.Message(13, ValueProto(value));
  return proto;
}

}  // namespace

int64_t OnnxTypeOf(DataType type) {
  switch (type) {
    case DataType::kF32:
      return onnx_import::kFloat;
    case DataType::kF64:
      return onnx_import::kDouble;
    case DataType::kF16:
      return onnx_import::kFloat16;
    case DataType::kBF16:
      return onnx_import::kBfloat16;
    case DataType::kI8:
      return onnx_import::kInt8;
    case DataType::kI16:
      return onnx_import::kInt16;
    case DataType::kI32:
      return onnx_import::kInt32;
    case DataType::kI64:
      return onnx_import::kInt64;
    case DataType::kU8:
      return onnx_import::kUint8;
    case DataType::kU16:
      return onnx_import::kUint16;
    case DataType::kU32:
      return onnx_import::kUint32;
    case DataType::kU64:
      return onnx_import::kUint64;
    case DataType::kBool:
      return onnx_import::kBool;
  }
  TUNEC_UNREACHABLE("data type {}", static_cast<int>(type));
}

int64_t WeightBytes(const ExportedModel& model) {
  int64_t bytes = 0;
  for (const auto& [name, array] : model.graph.initializers)
    if (IsWeight(array)) bytes += static_cast<int64_t>(array.bytes());
  return bytes;
}

std::vector<WeightOffset> LayOutWeights(const ExportedModel& model) {
  std::vector<WeightOffset> offsets;
  int64_t end = 0;
  for (const auto& [name, array] : model.graph.initializers) {
    if (!IsWeight(array)) continue;
    const int64_t offset = (end + kAlignment - 1) / kAlignment * kAlignment;
    offsets.push_back({&array, offset});
    end = offset + static_cast<int64_t>(array.bytes());
  }
  return offsets;
}

Result<std::string> Serialize(const ExportedModel& model, const std::string& data_file) {
  WireWriter opset;
  opset.Text(1, "");
  opset.Varint(2, model.opset);
  WireWriter proto;
  proto.Varint(1, kIrVersion);
  proto.Text(2, "tunec");
  proto.Message(7, GraphProto(model, data_file));
  proto.Message(8, opset);
  if (proto.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return Fail(ErrorCode::kResourceLimit,
                "the ONNX model would have {} bytes, expected at most {} in one message",
                proto.size(), std::numeric_limits<int>::max());
  return std::move(proto).Take();
}

}  // namespace tunec::onnx_export
