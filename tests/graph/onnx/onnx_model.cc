#include "tests/graph/onnx/onnx_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "graph/reference.h"
#include "graph/specialize.h"
#include "tests/graph/onnx/mutate_shapes.h"

namespace tunec::onnx_test {

Array Typed(DataType type, std::vector<int64_t> shape, const std::vector<double>& values) {
  Array array(type, std::move(shape));
  EXPECT_EQ(array.size(), static_cast<int64_t>(values.size()));
  for (int64_t i = 0; i < array.size(); ++i) {
    const double value = values.at(static_cast<size_t>(i));
    IsFloat(type) ? array.SetDouble(i, value) : array.SetInt(i, static_cast<int64_t>(value));
  }
  return array;
}

Array Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  return Typed(DataType::kF32, std::move(shape), {values.begin(), values.end()});
}

Array Ints(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  Array array(DataType::kI64, std::move(shape));
  for (int64_t i = 0; i < array.size(); ++i) array.SetInt(i, values.at(static_cast<size_t>(i)));
  return array;
}

Array Counting(std::vector<int64_t> shape, float first, float step) {
  Array array(DataType::kF32, std::move(shape));
  for (int64_t i = 0; i < array.size(); ++i)
    array.SetDouble(i, first + static_cast<float>(i) * step);
  return array;
}

std::vector<double> Values(const Array& array) {
  std::vector<double> values;
  for (int64_t i = 0; i < array.size(); ++i) values.push_back(array.GetDouble(i));
  return values;
}

Attr::Attr(std::string n, int value) : name(std::move(n)) {
  proto.set_type(onnx::AttributeProto::INT);
  proto.set_i(value);
}
Attr::Attr(std::string n, double value) : name(std::move(n)) {
  proto.set_type(onnx::AttributeProto::FLOAT);
  proto.set_f(static_cast<float>(value));
}
Attr::Attr(std::string n, const char* value) : name(std::move(n)) {
  proto.set_type(onnx::AttributeProto::STRING);
  proto.set_s(value);
}
Attr::Attr(std::string n, std::vector<int64_t> values) : name(std::move(n)) {
  proto.set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) proto.add_ints(value);
}
Attr::Attr(std::string n, std::vector<float> values) : name(std::move(n)) {
  proto.set_type(onnx::AttributeProto::FLOATS);
  for (const float value : values) proto.add_floats(value);
}
Attr::Attr(std::string n, const Array& value) : name(std::move(n)) {
  proto.set_type(onnx::AttributeProto::TENSOR);
  *proto.mutable_t() = MakeTensor("", value);
}
Attr::Attr(std::string n, const onnx::GraphProto& value) : name(std::move(n)) {
  proto.set_type(onnx::AttributeProto::GRAPH);
  *proto.mutable_g() = value;
}

int OnnxType(DataType type) {
  switch (type) {
    case DataType::kF32:
      return onnx::TensorProto::FLOAT;
    case DataType::kF64:
      return onnx::TensorProto::DOUBLE;
    case DataType::kF16:
      return onnx::TensorProto::FLOAT16;
    case DataType::kBF16:
      return onnx::TensorProto::BFLOAT16;
    case DataType::kI8:
      return onnx::TensorProto::INT8;
    case DataType::kI16:
      return onnx::TensorProto::INT16;
    case DataType::kI32:
      return onnx::TensorProto::INT32;
    case DataType::kI64:
      return onnx::TensorProto::INT64;
    case DataType::kU8:
      return onnx::TensorProto::UINT8;
    case DataType::kU16:
      return onnx::TensorProto::UINT16;
    case DataType::kU32:
      return onnx::TensorProto::UINT32;
    case DataType::kU64:
      return onnx::TensorProto::UINT64;
    case DataType::kBool:
      return onnx::TensorProto::BOOL;
  }
  return 0;
}

onnx::TensorProto MakeTensor(const std::string& name, const Array& array) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(OnnxType(array.type()));
  for (const int64_t size : array.shape()) tensor.add_dims(size);
  tensor.set_raw_data(array.data(), array.bytes());
  return tensor;
}

Model::Model(int64_t opset) {
  proto_.set_ir_version(8);
  proto_.add_opset_import()->set_version(opset);
  proto_.mutable_graph()->set_name("test");
}

Model& Model::Input(const std::string& name, std::vector<int64_t> shape, DataType type) {
  auto& input = *graph().add_input();
  input.set_name(name);
  auto& tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(OnnxType(type));
  tensor.mutable_shape();
  for (const int64_t size : shape) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    if (size >= 0) dim.set_dim_value(size);
  }
  return *this;
}

Model& Model::Constant(const std::string& name, const Array& array) {
  *graph().add_initializer() = MakeTensor(name, array);
  return *this;
}

void AddNode(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const std::string& op,
             const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
             const std::vector<Attr>& attributes, const std::string& domain) {
  auto& node = *nodes.Add();
  node.set_op_type(op);
  node.set_domain(domain);
  node.set_name(op + "_" + (outputs.empty() ? "" : outputs.front()));
  for (const auto& input : inputs) node.add_input(input);
  for (const auto& output : outputs) node.add_output(output);
  for (const Attr& attribute : attributes) {
    *node.add_attribute() = attribute.proto;
    node.mutable_attribute()->rbegin()->set_name(attribute.name);
  }
}

Model& Model::Node(const std::string& op, std::vector<std::string> inputs,
                   std::vector<std::string> outputs, const std::vector<Attr>& attributes,
                   const std::string& domain) {
  AddNode(*graph().mutable_node(), op, inputs, outputs, attributes, domain);
  return *this;
}

Model& Model::Output(const std::string& name) {
  graph().add_output()->set_name(name);
  return *this;
}

Result<Graph> Model::Import(const ImportOptions& options) const {
  CheckMutatedShapes(proto_);
  const std::string bytes = Bytes();
  return ImportOnnxBytes(std::as_bytes(std::span(bytes)), "test.onnx", options);
}

namespace {

/// A model with one node, and the operands that are inputs of the graph.
struct OneNode {
  Model model;
  std::vector<Array> arguments;
};

OneNode MakeModel(const Call& call, bool all_constant) {
  OneNode made{Model(call.opset), {}};
  Model& model = made.model;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const Array& operand = call.operands[i];
    inputs.push_back(operand.size() == 0 && operand.type() == DataType::kBool
                         ? ""  // Absent()
                         : fmt::format("x{}", i));
    if (inputs.back().empty()) continue;
    const bool constant = all_constant || std::ranges::count(call.constants, i) > 0;
    if (constant) {
      model.Constant(inputs.back(), operand);
    } else {
      model.Input(inputs.back(), operand.shape(), operand.type());
      made.arguments.push_back(operand);
    }
  }
  for (size_t i = 0; i < call.count; ++i) outputs.push_back(fmt::format("y{}", i));
  model.Node(call.op, inputs, outputs, call.attributes, call.domain);
  for (const auto& output : outputs) model.Output(output);
  return made;
}

Result<std::vector<Array>> RunOnce(const Call& call, bool all_constant) {
  const OneNode made = MakeModel(call, all_constant);
  TUNEC_ASSIGN(const Graph graph, made.model.Import());
  TUNEC_RETURN_IF_ERROR(Verify(graph));
  return RunReference(graph, made.arguments);
}

enum class Naming : uint8_t {
  kEachAxis,   // each axis of an input has its own name
  kEachSize,   // axes of equal sizes have the same name
  kFirstAxis,  // the first axis of each input has one name
  kLaterAxes,  // the axes from the third one on have their own names
};

/// Returns the name of an axis of an input, or an empty string if its size is a number.
std::string NameOf(Naming naming, int input, int axis, int64_t size) {
  switch (naming) {
    case Naming::kEachAxis:
      return fmt::format("n{}_{}", input, axis);
    case Naming::kEachSize:
      return fmt::format("n{}", size);
    case Naming::kFirstAxis:
      return axis == 0 ? fmt::format("n{}", size) : "";
    case Naming::kLaterAxes:
      return axis >= 2 ? fmt::format("n{}_{}", input, axis) : "";
  }
  return "";
}

/// Imports the call with named sizes for all inputs, and runs the graph with the operands' sizes.
/// Returns nullopt if a node accepts no named sizes, or if an assumption is false at these sizes.
std::optional<Result<std::vector<Array>>> RunNamed(const Call& call, Naming naming) {
  OneNode made = MakeModel(call, false);
  ImportOptions options;
  SizeValues sizes;
  for (int i = 0; i < made.model.graph().input_size(); ++i) {
    auto& shape = *made.model.graph().mutable_input(i)->mutable_type()->mutable_tensor_type();
    for (int a = 0; a < shape.shape().dim_size(); ++a) {
      auto& dim = *shape.mutable_shape()->mutable_dim(a);
      const int64_t size = dim.dim_value();
      const std::string name = NameOf(naming, i, a, size);
      if (name.empty()) continue;
      dim.set_dim_param(name);
      options.named_dims.insert(name);
      sizes[name] = size;
    }
  }
  const Result<Graph> named = made.model.Import(options);
  if (!named) {
    if (named.error().code == ErrorCode::kUnsupported) return std::nullopt;
    return std::unexpected(named.error());
  }
  for (const SizeCondition& condition : ConditionsOf(*named))
    if (!Holds(condition, sizes).value_or(false)) return std::nullopt;
  const Result<Graph> graph = Specialize(*named, sizes);
  EXPECT_TRUE(graph.has_value()) << call.op << ": " << graph.error().Format();
  if (!graph) return std::unexpected(graph.error());
  return RunReference(*graph, made.arguments);
}

void ExpectSame(const std::vector<Array>& a, const std::vector<Array>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].type(), b[i].type());
    EXPECT_EQ(a[i].shape(), b[i].shape());
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(a[i].data()), a[i].bytes()),
              std::string(reinterpret_cast<const char*>(b[i].data()), b[i].bytes()));
  }
}

}  // namespace

Result<std::vector<Array>> RunCall(const Call& call) {
  auto result = RunOnce(call, false);
  const auto folded = RunOnce(call, true);
  EXPECT_EQ(result.has_value(), folded.has_value());
  if (result && folded) ExpectSame(*result, *folded);
  for (const Naming naming :
       {Naming::kEachAxis, Naming::kEachSize, Naming::kFirstAxis, Naming::kLaterAxes}) {
    const auto named = RunNamed(call, naming);
    if (!named) continue;
    EXPECT_EQ(named->has_value(), result.has_value()) << call.op << " with named sizes";
    if (*named && result) ExpectSame(**named, *result);
  }
  return result;
}

Array Eval(const Call& call) {
  auto result = RunCall(call);
  EXPECT_TRUE(result.has_value()) << call.op << ": " << result.error().Format();
  return result && !result->empty() ? result->front() : Array();
}

std::string ErrorOf(const Call& call) {
  const auto result = RunOnce(call, false);
  return result ? "" : result.error().message;
}

}  // namespace tunec::onnx_test
