// The parser of ONNX models, which are protobuf messages of the type ModelProto. Fields are
// identified by their numbers in onnx.proto.
#include <limits>
#include <set>
#include <utility>

#include "graph/onnx/file/model.h"
#include "graph/onnx/file/parse_attribute.h"
#include "graph/onnx/file/parse_tensor.h"
#include "graph/onnx/file/wire_format.h"

namespace tunec::onnx_import {
namespace {

/// Largest nesting depth of messages. Only graphs are counted, each as three levels.
constexpr int kMostLevels = 100;

std::string Domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

/// Returns the function's name, followed by the overload if there is one.
std::string WithOverload(std::string name, const std::string& overload) {
  return overload.empty() ? name : std::move(name) + ":" + overload;
}

struct NamedAttribute {
  std::string name;
  OnnxAttribute value;
};

class Decoder {
 public:
  Decoder(const std::optional<DataFolders>& folders, size_t model_bytes)
      : files_(folders), model_bytes_(model_bytes) {}
  Result<OnnxModel> Model(Bytes bytes);

 private:
  /// Calls `visit`, which returns a Status, for each field of a message up to the first error.
  template <class Visit>
  Status VisitFields(const Pieces& message, Visit visit) const;
  std::unexpected<Error> Malformed() const;

  Result<OnnxTensor> Tensor(const Pieces& pieces) const;
  Result<OnnxGraph> DecodeGraph(const Pieces& message);
  Status AddInitializer(OnnxGraph& graph, Bytes bytes);
  Result<OnnxNode> DecodeNode(Bytes bytes);
  Result<NamedAttribute> Attribute(Bytes bytes);
  Result<OnnxAttribute> AttributeValue(RawAttribute& attribute);
  Result<OnnxValue> DecodeValue(Bytes bytes) const;
  Result<std::string> ValueName(Bytes bytes) const;
  Result<OnnxValue> DecodeOutput(Bytes bytes) const;
  Status TakeType(OnnxValue& value, const Pieces& type) const;
  Status TakeTensorType(OnnxValue& value, const Pieces& tensor) const;
  Result<Dim> Dimension(Bytes bytes) const;
  Result<std::pair<std::string, int64_t>> Opset(Bytes bytes) const;
  Status AddFunction(OnnxModel& model, Bytes bytes);

  ExternalFiles files_;
  size_t model_bytes_;
  int levels_ = 0;
};

template <class Visit>
Status Decoder::VisitFields(const Pieces& message, Visit visit) const {
  for (const Bytes piece : message) {
    WireReader fields(piece);
    while (const auto field = fields.Next()) TUNEC_RETURN_IF_ERROR(visit(*field));
    if (fields.Malformed()) return Malformed();
  }
  return {};
}

std::unexpected<Error> Decoder::Malformed() const {
  return Fail(ErrorCode::kParse,
              "not an ONNX model, or a damaged one: its protobuf message of {} bytes is truncated, "
              "malformed or nested deeper than {} levels",
              model_bytes_, kMostLevels);
}

Result<OnnxTensor> Decoder::Tensor(const Pieces& pieces) const {
  auto tensor = ReadTensor(pieces);
  if (!tensor) return Malformed();
  return std::move(*tensor);
}

Result<Dim> Decoder::Dimension(Bytes bytes) const {
  Dim dim = Dim::Unknown();
  TUNEC_RETURN_IF_ERROR(VisitFields({bytes}, [&](const WireField& field) -> Status {
    // Some exporters write -1 for a dynamic dimension.
    if (field.tag == VarintTag(1))
      dim = field.Signed() < 0 ? Dim::Unknown() : FixedDim(field.Signed());
    // Some exporters write "?" for each dynamic dimension. It is no name.
    if (field.tag == BytesTag(2)) {
      const bool is_name = !field.Text().empty() && field.Text() != "?";
      dim = is_name ? Dim::Named(field.Text()) : Dim::Unknown();
    }
    return {};
  }));
  return dim;
}

/// Gives names such as `x.0` to dynamic dimensions of an input that have none in the file.
void NameDimensions(OnnxValue& input) {
  // The limits bound the work for hostile files.
  constexpr size_t kMostAxes = 64, kMostLength = 1024;
  if (!input.dims || input.dims->size() > kMostAxes || input.name.size() > kMostLength) return;
  for (size_t axis = 0; axis < input.dims->size(); ++axis) {
    Dim& dim = (*input.dims)[axis];
    if (!dim.IsKnown()) dim = Dim::Named(fmt::format("{}.{}", input.name, axis));
  }
}

Status Decoder::TakeTensorType(OnnxValue& value, const Pieces& tensor) const {
  int64_t element = 0;
  std::optional<Pieces> shape;
  TUNEC_RETURN_IF_ERROR(VisitFields(tensor, [&](const WireField& field) -> Status {
    if (field.tag == VarintTag(1)) element = static_cast<int32_t>(field.number);
    if (field.tag == BytesTag(2)) {
      if (!shape) shape.emplace();
      shape->push_back(field.bytes);
    }
    return {};
  }));
  auto type = DataTypeOf(element);
  if (!type) return Fail(type.error().code, "value '{}': {}", value.name, type.error().message);
  value.type = *type;
  if (!shape) return {};
  value.dims.emplace();
  return VisitFields(*shape, [&](const WireField& field) -> Status {
    if (field.tag != BytesTag(1)) return {};
    TUNEC_ASSIGN(Dim dim, Dimension(field.bytes));
    value.dims->push_back(std::move(dim));
    return {};
  });
}

Status Decoder::TakeType(OnnxValue& value, const Pieces& type) const {
  Pieces tensor;
  bool other = false;  // a sequence, map, optional, sparse tensor or opaque type
  TUNEC_RETURN_IF_ERROR(VisitFields(type, [&](const WireField& field) -> Status {
    if (field.tag == BytesTag(1)) tensor.push_back(field.bytes);
    for (const uint32_t number : {4, 5, 7, 8, 9}) other |= field.tag == BytesTag(number);
    return {};
  }));
  if (other) return Fail(ErrorCode::kUnsupported, "value '{}' is not a tensor", value.name);
  return tensor.empty() ? Status() : TakeTensorType(value, tensor);
}

Result<std::string> Decoder::ValueName(Bytes bytes) const {
  std::string name;
  TUNEC_RETURN_IF_ERROR(VisitFields({bytes}, [&](const WireField& field) -> Status {
    if (field.tag == BytesTag(1)) name = field.Text();
    return {};
  }));
  return name;
}

Result<OnnxValue> Decoder::DecodeValue(Bytes bytes) const {
  OnnxValue value;
  Pieces type;
  TUNEC_RETURN_IF_ERROR(VisitFields({bytes}, [&](const WireField& field) -> Status {
    if (field.tag == BytesTag(1)) value.name = field.Text();
    if (field.tag == BytesTag(2)) type.push_back(field.bytes);
    return {};
  }));
  TUNEC_RETURN_IF_ERROR(TakeType(value, type));
  return value;
}

Result<OnnxAttribute> Decoder::AttributeValue(RawAttribute& attribute) {
  if (!attribute.reference.empty()) return AttributeReference{attribute.reference};
  switch (attribute.kind) {
    case AttributeKind::kInt:
      return attribute.integer;
    case AttributeKind::kFloat:
      return attribute.number;
    case AttributeKind::kString:
      return std::move(attribute.text);
    case AttributeKind::kInts:
      return std::move(attribute.integers);
    case AttributeKind::kFloats:
      return std::move(attribute.numbers);
    case AttributeKind::kStrings:
      return std::move(attribute.texts);
    case AttributeKind::kTensor: {
      TUNEC_ASSIGN(const OnnxTensor tensor, Tensor(attribute.tensor));
      auto array = DecodeTensor(tensor, files_);
      // An unsupported tensor is not an error here: the handler decides whether the node is
      // supported.
      if (!array && array.error().code == ErrorCode::kUnsupported) {
        return UnsupportedAttribute{array.error().message};
      }
      return array;
    }
    case AttributeKind::kGraph: {
      TUNEC_ASSIGN(auto graph, DecodeGraph(attribute.graph));
      return std::make_shared<const OnnxGraph>(std::move(graph));
    }
    default:
      return UnsupportedAttribute{Name(attribute.kind)};
  }
}

Result<NamedAttribute> Decoder::Attribute(Bytes bytes) {
  auto raw = ReadAttribute(bytes);
  if (!raw) return Malformed();
  auto value = AttributeValue(*raw);
  if (value) return NamedAttribute{std::move(raw->name), std::move(*value)};
  return Fail(value.error().code, "attribute '{}': {}", raw->name, value.error().message);
}

Result<OnnxNode> Decoder::DecodeNode(Bytes bytes) {
  OnnxNode node;
  std::string overload;
  Pieces attributes;
  TUNEC_RETURN_IF_ERROR(VisitFields({bytes}, [&](const WireField& field) -> Status {
    if (field.tag == BytesTag(1)) node.inputs.push_back(field.Text());
    if (field.tag == BytesTag(2)) node.outputs.push_back(field.Text());
    if (field.tag == BytesTag(3)) node.name = field.Text();
    if (field.tag == BytesTag(4)) node.op_type = field.Text();
    if (field.tag == BytesTag(5)) attributes.push_back(field.bytes);
    if (field.tag == BytesTag(7)) node.domain = Domain(field.Text());
    if (field.tag == BytesTag(8)) overload = field.Text();
    return {};
  }));
  node.op_type = WithOverload(std::move(node.op_type), overload);
  for (const Bytes attribute : attributes) {
    auto decoded = Attribute(attribute);
    if (!decoded) {
      return Fail(decoded.error().code, "node {}: {}", Describe(node), decoded.error().message);
    }
    if (!node.attributes.emplace(decoded->name, std::move(decoded->value)).second) {
      return Fail(ErrorCode::kParse, "node {} has attribute '{}' twice", Describe(node),
                  decoded->name);
    }
  }
  return node;
}

Status Decoder::AddInitializer(OnnxGraph& graph, Bytes bytes) {
  TUNEC_ASSIGN(const OnnxTensor tensor, Tensor({bytes}));
  if (tensor.name.empty()) return Fail(ErrorCode::kParse, "an initializer has no name");
  TUNEC_ASSIGN(auto array, DecodeTensor(tensor, files_));
  graph.initializers.emplace_back(tensor.name, std::move(array));
  return {};
}

Status CheckNamesOnce(const OnnxGraph& graph) {
  std::set<std::string_view> names;
  for (const auto& [name, array] : graph.initializers) {
    if (!names.insert(name).second)
      return Fail(ErrorCode::kParse, "two initializers have the name '{}'", name);
  }
  return {};
}

/// Decodes an output. A type that cannot be decoded is ignored, because types follow from the
/// nodes.
Result<OnnxValue> Decoder::DecodeOutput(Bytes bytes) const {
  if (auto value = DecodeValue(bytes)) return value;
  TUNEC_ASSIGN(std::string name, ValueName(bytes));
  return OnnxValue{std::move(name), {}, {}};
}

Result<OnnxGraph> Decoder::DecodeGraph(const Pieces& message) {
  constexpr int kLevelsOfGraph = 3;  // graph, node, attribute
  if (levels_ + kLevelsOfGraph > kMostLevels) return Malformed();
  levels_ += kLevelsOfGraph;
  OnnxGraph graph;
  bool sparse = false;
  TUNEC_RETURN_IF_ERROR(VisitFields(message, [&](const WireField& field) -> Status {
    switch (field.tag) {
      case BytesTag(1): {
        TUNEC_ASSIGN(auto node, DecodeNode(field.bytes));
        graph.nodes.push_back(std::move(node));
        return {};
      }
      case BytesTag(2):
        graph.name = field.Text();
        return {};
      case BytesTag(5):
        return AddInitializer(graph, field.bytes);
      case BytesTag(11): {
        TUNEC_ASSIGN(auto value, DecodeValue(field.bytes));
        NameDimensions(value);
        graph.inputs.push_back(std::move(value));
        return {};
      }
      case BytesTag(12): {
        TUNEC_ASSIGN(auto value, DecodeOutput(field.bytes));
        graph.outputs.push_back(std::move(value));
        return {};
      }
      case BytesTag(15):
        sparse = true;
        return {};
      default:
        return {};
    }
  }));
  levels_ -= kLevelsOfGraph;
  if (sparse)
    return Fail(ErrorCode::kUnsupported, "graph '{}' has sparse initializers", graph.name);
  TUNEC_RETURN_IF_ERROR(CheckNamesOnce(graph));
  return graph;
}

Result<std::pair<std::string, int64_t>> Decoder::Opset(Bytes bytes) const {
  std::pair<std::string, int64_t> opset;
  TUNEC_RETURN_IF_ERROR(VisitFields({bytes}, [&](const WireField& field) -> Status {
    if (field.tag == BytesTag(1)) opset.first = Domain(field.Text());
    if (field.tag == VarintTag(2)) opset.second = field.Signed();
    return {};
  }));
  return opset;
}

Status Decoder::AddFunction(OnnxModel& model, Bytes bytes) {
  OnnxFunction function;
  std::string name, domain, overload;
  TUNEC_RETURN_IF_ERROR(VisitFields({bytes}, [&](const WireField& field) -> Status {
    switch (field.tag) {
      case BytesTag(1):
        name = field.Text();
        return {};
      case BytesTag(4):
        function.inputs.push_back(field.Text());
        return {};
      case BytesTag(5):
        function.outputs.push_back(field.Text());
        return {};
      case BytesTag(7): {
        TUNEC_ASSIGN(auto node, DecodeNode(field.bytes));
        function.nodes.push_back(std::move(node));
        return {};
      }
      case BytesTag(9): {
        TUNEC_ASSIGN(const auto opset, Opset(field.bytes));
        function.opsets[opset.first] = opset.second;
        return {};
      }
      case BytesTag(10):
        domain = Domain(field.Text());
        return {};
      case BytesTag(11): {
        TUNEC_ASSIGN(auto attribute, Attribute(field.bytes));
        function.defaults.emplace(std::move(attribute.name), std::move(attribute.value));
        return {};
      }
      case BytesTag(13):
        overload = field.Text();
        return {};
      default:
        return {};
    }
  }));
  const auto key = std::pair(domain, WithOverload(std::move(name), overload));
  if (!model.functions.emplace(key, std::move(function)).second) {
    return Fail(ErrorCode::kParse, "two functions have the name '{}.{}'", key.first, key.second);
  }
  return {};
}

Result<OnnxModel> Decoder::Model(Bytes bytes) {
  OnnxModel model;
  Pieces graph;
  Pieces functions;
  TUNEC_RETURN_IF_ERROR(VisitFields({bytes}, [&](const WireField& field) -> Status {
    if (field.tag == BytesTag(7)) graph.push_back(field.bytes);
    if (field.tag == BytesTag(25)) functions.push_back(field.bytes);
    if (field.tag != BytesTag(8)) return {};
    TUNEC_ASSIGN(const auto opset, Opset(field.bytes));
    model.opsets[opset.first] = opset.second;
    return {};
  }));
  if (graph.empty()) return Fail(ErrorCode::kParse, "not an ONNX model: it has no graph");
  for (const Bytes function : functions) TUNEC_RETURN_IF_ERROR(AddFunction(model, function));
  TUNEC_ASSIGN(model.graph, DecodeGraph(graph));
  model.external_files = files_.Stamps();
  return model;
}

}  // namespace

std::string Describe(const OnnxNode& node) {
  const std::string type = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  if (!node.name.empty()) return fmt::format("'{}' ({})", node.name, type);
  const std::string output = node.outputs.empty() ? "" : node.outputs.front();
  return fmt::format("({} that makes '{}')", type, output);
}

Result<OnnxModel> ParseModel(std::span<const std::byte> bytes,
                             const std::optional<DataFolders>& folders) {
  constexpr size_t kMostBytes = std::numeric_limits<int>::max();
  if (bytes.empty()) return Fail(ErrorCode::kParse, "not an ONNX model: the file is empty");
  if (bytes.size() > kMostBytes) {
    return Fail(ErrorCode::kResourceLimit,
                "model has {} bytes, expected at most {} (keep weights as external data)",
                bytes.size(), kMostBytes);
  }
  return Decoder(folders, bytes.size()).Model(bytes);
}

}  // namespace tunec::onnx_import
