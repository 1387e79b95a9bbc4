#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <limits>
#include <set>
#include <utility>

#include "graph/onnx/detach_weights.h"
#include "graph/onnx/model.h"
#include "graph/onnx/parse_tensor.h"

namespace tunec::onnx_import {
namespace {

/// Messages within messages; each nested graph takes three levels.
constexpr int kMostLevels = 100;

std::string Domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

/// Fields that are newer than the headers we are built with arrive as unknown ones.
template <class Visit>
void VisitUnknownFields(const google::protobuf::Message& message, int number, Visit visit) {
  const auto& fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      visit(field.length_delimited());
    }
  }
}

/// Functions of one name are told apart by their overload; it becomes part of the name.
std::string WithOverload(const google::protobuf::Message& message, const std::string& name,
                         int overload_field) {
  std::string result = name;
  VisitUnknownFields(message, overload_field, [&](const std::string& overload) {
    if (!overload.empty()) result += ":" + overload;
  });
  return result;
}

/// Per initializer of the model's graph: its bytes, when they were taken out of the message.
using RawData = std::vector<std::span<const std::byte>>;

class Decoder {
 public:
  Decoder(const std::optional<std::string>& folder, RawData raw_data)
      : files_(folder), raw_data_(std::move(raw_data)) {}
  Result<OnnxModel> Model(onnx::ModelProto& proto);

 private:
  Result<OnnxGraph> DecodeGraph(onnx::GraphProto& proto, const RawData& raw_data = {});
  Result<std::vector<OnnxNode>> Nodes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& protos);
  Result<OnnxNode> DecodeNode(onnx::NodeProto& proto);
  Result<OnnxAttribute> Attribute(onnx::AttributeProto& proto);
  Result<OnnxValue> DecodeValue(const onnx::ValueInfoProto& proto);
  Result<OnnxFunction> Function(onnx::FunctionProto& proto);

  ExternalFiles files_;
  RawData raw_data_;
};

Result<OnnxValue> Decoder::DecodeValue(const onnx::ValueInfoProto& proto) {
  OnnxValue value;
  value.name = proto.name();
  if (!proto.has_type() || proto.type().value_case() == onnx::TypeProto::VALUE_NOT_SET)
    return value;
  if (!proto.type().has_tensor_type()) {
    return Fail(ErrorCode::kUnsupported, "value '{}' is not a tensor", value.name);
  }
  const auto& tensor = proto.type().tensor_type();
  auto type = DataTypeOf(tensor.elem_type());
  if (!type) return Fail(type.error().code, "value '{}': {}", value.name, type.error().message);
  value.type = *type;
  if (!tensor.has_shape()) return value;
  value.dims.emplace();
  for (const auto& dim : tensor.shape().dim()) {
    if (!dim.has_dim_value()) {
      value.dims->push_back(Dim(dim.dim_param()));
    } else if (dim.dim_value() < 0) {
      value.dims->push_back(Dim(std::string()));  // exporters write -1 for "open"
    } else {
      value.dims->push_back(dim.dim_value());
    }
  }
  return value;
}

Result<OnnxAttribute> Decoder::Attribute(onnx::AttributeProto& proto) {
  using Type = onnx::AttributeProto;
  if (!proto.ref_attr_name().empty()) return AttributeReference{proto.ref_attr_name()};
  switch (proto.type()) {
    case Type::INT:
      return proto.i();
    case Type::FLOAT:
      return static_cast<double>(proto.f());
    case Type::STRING:
      return proto.s();
    case Type::INTS:
      return std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
    case Type::FLOATS:
      return std::vector<double>(proto.floats().begin(), proto.floats().end());
    case Type::STRINGS:
      return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    case Type::TENSOR: {
      auto array = DecodeTensor(*proto.mutable_t(), files_);
      // Left to the handler: whether the node is supported is not for the decoder to say.
      if (!array && array.error().code == ErrorCode::kUnsupported) {
        return UnsupportedAttribute{array.error().message};
      }
      return array;
    }
    case Type::GRAPH: {
      TUNEC_ASSIGN(auto graph, DecodeGraph(*proto.mutable_g()));
      return std::make_shared<const OnnxGraph>(std::move(graph));
    }
    default:
      return UnsupportedAttribute{onnx::AttributeProto_AttributeType_Name(proto.type())};
  }
}

Result<OnnxNode> Decoder::DecodeNode(onnx::NodeProto& proto) {
  OnnxNode node;
  node.op_type = WithOverload(proto, proto.op_type(), 8);
  node.domain = Domain(proto.domain());
  node.name = proto.name();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (auto& attribute : *proto.mutable_attribute()) {
    auto value = Attribute(attribute);
    if (!value) {
      return Fail(value.error().code, "node {}: attribute '{}': {}", Describe(node),
                  attribute.name(), value.error().message);
    }
    if (!node.attributes.emplace(attribute.name(), std::move(*value)).second) {
      return Fail(ErrorCode::kParse, "node {} has attribute '{}' twice", Describe(node),
                  attribute.name());
    }
  }
  return node;
}

Result<std::vector<OnnxNode>> Decoder::Nodes(
    google::protobuf::RepeatedPtrField<onnx::NodeProto>& protos) {
  std::vector<OnnxNode> nodes;
  nodes.reserve(static_cast<size_t>(protos.size()));
  for (auto& proto : protos) {
    TUNEC_ASSIGN(auto node, DecodeNode(proto));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<OnnxGraph> Decoder::DecodeGraph(onnx::GraphProto& proto, const RawData& raw_data) {
  OnnxGraph graph;
  graph.name = proto.name();
  if (proto.sparse_initializer_size() > 0) {
    return Fail(ErrorCode::kUnsupported, "graph '{}' has sparse initializers", graph.name);
  }
  std::set<std::string_view> names;
  for (int i = 0; i < proto.initializer_size(); ++i) {
    auto& tensor = *proto.mutable_initializer(i);
    const auto at = static_cast<size_t>(i);
    if (tensor.name().empty()) return Fail(ErrorCode::kParse, "an initializer has no name");
    if (!names.insert(tensor.name()).second) {
      return Fail(ErrorCode::kParse, "two initializers are called '{}'", tensor.name());
    }
    TUNEC_ASSIGN(
        auto array,
        DecodeTensor(tensor, files_, at < raw_data.size() ? raw_data[at] : RawData::value_type()));
    graph.initializers.emplace_back(tensor.name(), std::move(array));
  }
  for (const auto& input : proto.input()) {
    TUNEC_ASSIGN(auto value, DecodeValue(input));
    graph.inputs.push_back(std::move(value));
  }
  for (const auto& output : proto.output()) graph.outputs.push_back({output.name(), {}, {}});
  TUNEC_ASSIGN(graph.nodes, Nodes(*proto.mutable_node()));
  return graph;
}

Result<OnnxFunction> Decoder::Function(onnx::FunctionProto& proto) {
  OnnxFunction function;
  function.inputs.assign(proto.input().begin(), proto.input().end());
  function.outputs.assign(proto.output().begin(), proto.output().end());
  for (const auto& opset : proto.opset_import()) {
    function.opsets[Domain(opset.domain())] = opset.version();
  }
  std::vector<onnx::AttributeProto> defaults;
  VisitUnknownFields(proto, 11, [&](const std::string& bytes) {
    onnx::AttributeProto attribute;
    if (attribute.ParseFromString(bytes)) defaults.push_back(std::move(attribute));
  });
  for (auto& attribute : defaults) {
    TUNEC_ASSIGN(auto value, Attribute(attribute));
    function.defaults.emplace(attribute.name(), std::move(value));
  }
  TUNEC_ASSIGN(function.nodes, Nodes(*proto.mutable_node()));
  return function;
}

Result<OnnxModel> Decoder::Model(onnx::ModelProto& proto) {
  if (!proto.has_graph()) return Fail(ErrorCode::kParse, "not an ONNX model: it has no graph");
  OnnxModel model;
  for (const auto& opset : proto.opset_import()) {
    model.opsets[Domain(opset.domain())] = opset.version();
  }
  for (auto& function : *proto.mutable_functions()) {
    const std::string name = WithOverload(function, function.name(), 13);
    const auto key = std::pair(Domain(function.domain()), name);
    TUNEC_ASSIGN(auto decoded, Function(function));
    if (!model.functions.emplace(key, std::move(decoded)).second) {
      return Fail(ErrorCode::kParse, "two functions are called '{}.{}'", key.first, key.second);
    }
  }
  TUNEC_ASSIGN(model.graph, DecodeGraph(*proto.mutable_graph(), raw_data_));
  return model;
}

bool ParseProto(std::span<const std::byte> bytes, onnx::ModelProto& proto) {
  const google::protobuf::LogSilencer silence;  // the error is ours to report
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  stream.SetRecursionLimit(kMostLevels);
  return proto.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

}  // namespace

std::string Describe(const OnnxNode& node) {
  const std::string type = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  if (!node.name.empty()) return fmt::format("'{}' ({})", node.name, type);
  const std::string output = node.outputs.empty() ? "" : node.outputs.front();
  return fmt::format("({} that makes '{}')", type, output);
}

Result<OnnxModel> ParseModel(std::span<const std::byte> bytes,
                             const std::optional<std::string>& folder) {
  constexpr size_t kMostBytes = std::numeric_limits<int>::max();
  if (bytes.empty()) return Fail(ErrorCode::kParse, "not an ONNX model: the file is empty");
  if (bytes.size() > kMostBytes) {
    return Fail(ErrorCode::kResourceLimit,
                "model has {} bytes, wanted at most {} (keep weights as external data)",
                bytes.size(), kMostBytes);
  }
  auto detached = DetachWeights(bytes);
  RawData raw_data;
  if (detached) raw_data = std::move(detached->raw_data);
  onnx::ModelProto proto;
  if (!ParseProto(detached ? std::as_bytes(std::span(detached->message)) : bytes, proto)) {
    return Fail(
        ErrorCode::kParse,
        "not an ONNX model, or a damaged one: its protobuf message of {} bytes is truncated, "
        "malformed or nested deeper than {} levels",
        bytes.size(), kMostLevels);
  }
  return Decoder(folder, std::move(raw_data)).Model(proto);
}

}  // namespace tunec::onnx_import
