#include "graph/onnx/write_model.h"

#include <onnx/onnx_pb.h>

#include <limits>
#include <map>

#include "support/check.h"

namespace tunec::onnx_export {
namespace {

using onnx_import::OnnxAttribute;
using onnx_import::OnnxGraph;
using onnx_import::OnnxNode;
using onnx_import::OnnxValue;

constexpr int64_t kIrVersion = 9;       // the first with opset 20
constexpr size_t kLeastOutside = 1024;  // smaller constants (shapes, scalars) stay inside
constexpr int64_t kAlignment = int64_t{1} << 12;

bool IsWeight(const Array& array) { return array.bytes() >= kLeastOutside; }

void SetTensor(const Array& array, onnx::TensorProto& proto) {
  proto.set_data_type(static_cast<int32_t>(OnnxTypeOf(array.type())));
  for (const int64_t size : array.shape()) proto.add_dims(size);
}

void SetBytes(const Array& array, onnx::TensorProto& proto) {
  proto.set_raw_data(reinterpret_cast<const char*>(array.data()), array.bytes());
}

void SetPlace(const PlacedWeight& weight, const std::string& file, onnx::TensorProto& proto) {
  proto.set_data_location(onnx::TensorProto_DataLocation_EXTERNAL);
  const auto add = [&](const char* key, std::string value) {
    auto* entry = proto.add_external_data();
    entry->set_key(key);
    entry->set_value(std::move(value));
  };
  add("location", file);
  add("offset", std::to_string(weight.offset));
  add("length", std::to_string(weight.array->bytes()));
}

void SetValue(const OnnxValue& value, onnx::ValueInfoProto& proto) {
  proto.set_name(value.name);
  if (!value.type || !value.dims) return;
  auto& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<int32_t>(OnnxTypeOf(*value.type)));
  auto& shape = *tensor.mutable_shape();  // present and empty: a scalar
  for (const Dim& dim : *value.dims) {
    auto& to = *shape.add_dim();
    dim.IsFixed() ? to.set_dim_value(dim.size()) : to.set_dim_param(dim.parameter());
  }
}

/// Sets one attribute by the kind of its value.
struct AttributeWriter {
  onnx::AttributeProto& proto;

  void operator()(int64_t value) const {
    proto.set_type(onnx::AttributeProto_AttributeType_INT);
    proto.set_i(value);
  }
  void operator()(double value) const {
    proto.set_type(onnx::AttributeProto_AttributeType_FLOAT);
    proto.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    proto.set_type(onnx::AttributeProto_AttributeType_STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    proto.set_type(onnx::AttributeProto_AttributeType_INTS);
    for (const int64_t value : values) proto.add_ints(value);
  }
  void operator()(const std::vector<double>& values) const {
    proto.set_type(onnx::AttributeProto_AttributeType_FLOATS);
    for (const double value : values) proto.add_floats(static_cast<float>(value));
  }
  void operator()(const Array& array) const {
    proto.set_type(onnx::AttributeProto_AttributeType_TENSOR);
    SetTensor(array, *proto.mutable_t());
    SetBytes(array, *proto.mutable_t());
  }
  template <class Other>
  void operator()(const Other&) const {
    TUNEC_UNREACHABLE("attribute {} of a kind that no exported operator has", proto.name());
  }
};

void SetNode(const OnnxNode& node, onnx::NodeProto& proto) {
  proto.set_op_type(node.op_type);
  proto.set_name(node.name);
  for (const std::string& input : node.inputs) proto.add_input(input);
  for (const std::string& output : node.outputs) proto.add_output(output);
  for (const auto& [name, value] : node.attributes) {
    auto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    std::visit(AttributeWriter{attribute}, value);
  }
}

void SetGraph(const ExportedModel& model, const std::string& data_file, onnx::GraphProto& proto) {
  const OnnxGraph& graph = model.graph;
  proto.set_name(graph.name);
  for (const OnnxValue& input : graph.inputs) SetValue(input, *proto.add_input());
  for (const OnnxValue& output : graph.outputs) SetValue(output, *proto.add_output());
  for (const OnnxValue& value : model.values) SetValue(value, *proto.add_value_info());
  for (const OnnxNode& node : graph.nodes) SetNode(node, *proto.add_node());
  const std::vector<PlacedWeight> places = LayOutWeights(model);
  size_t next = 0;
  for (const auto& [name, array] : graph.initializers) {
    auto& tensor = *proto.add_initializer();
    tensor.set_name(name);
    SetTensor(array, tensor);
    const bool outside = !data_file.empty() && IsWeight(array);
    if (outside) SetPlace(places[next], data_file, tensor);
    if (!outside) SetBytes(array, tensor);
    if (IsWeight(array)) ++next;
  }
}

}  // namespace

int64_t OnnxTypeOf(DataType type) {
  switch (type) {
    case DataType::kF32:
      return onnx::TensorProto_DataType_FLOAT;
    case DataType::kF64:
      return onnx::TensorProto_DataType_DOUBLE;
    case DataType::kF16:
      return onnx::TensorProto_DataType_FLOAT16;
    case DataType::kBF16:
      return onnx::TensorProto_DataType_BFLOAT16;
    case DataType::kI8:
      return onnx::TensorProto_DataType_INT8;
    case DataType::kI16:
      return onnx::TensorProto_DataType_INT16;
    case DataType::kI32:
      return onnx::TensorProto_DataType_INT32;
    case DataType::kI64:
      return onnx::TensorProto_DataType_INT64;
    case DataType::kU8:
      return onnx::TensorProto_DataType_UINT8;
    case DataType::kU16:
      return onnx::TensorProto_DataType_UINT16;
    case DataType::kU32:
      return onnx::TensorProto_DataType_UINT32;
    case DataType::kU64:
      return onnx::TensorProto_DataType_UINT64;
    case DataType::kBool:
      return onnx::TensorProto_DataType_BOOL;
  }
  TUNEC_UNREACHABLE("data type {}", static_cast<int>(type));
}

int64_t WeightBytes(const ExportedModel& model) {
  int64_t bytes = 0;
  for (const auto& [name, array] : model.graph.initializers)
    if (IsWeight(array)) bytes += static_cast<int64_t>(array.bytes());
  return bytes;
}

std::vector<PlacedWeight> LayOutWeights(const ExportedModel& model) {
  std::vector<PlacedWeight> places;
  int64_t end = 0;
  for (const auto& [name, array] : model.graph.initializers) {
    if (!IsWeight(array)) continue;
    const int64_t offset = (end + kAlignment - 1) / kAlignment * kAlignment;
    places.push_back({&array, offset});
    end = offset + static_cast<int64_t>(array.bytes());
  }
  return places;
}

Result<std::string> Serialize(const ExportedModel& model, const std::string& data_file) {
  onnx::ModelProto proto;
  proto.set_ir_version(kIrVersion);
  proto.set_producer_name("tunec");
  auto& opset = *proto.add_opset_import();
  opset.set_domain("");
  opset.set_version(model.opset);
  SetGraph(model, data_file, *proto.mutable_graph());
  if (proto.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return Fail(ErrorCode::kResourceLimit,
                "the ONNX model would have {} bytes, wanted at most {} in one message",
                proto.ByteSizeLong(), std::numeric_limits<int>::max());
  std::string bytes;
  if (!proto.SerializeToString(&bytes))
    return Fail(ErrorCode::kInternal, "the ONNX model can't be serialized");
  return bytes;
}

}  // namespace tunec::onnx_export
