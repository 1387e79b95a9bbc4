// Functions for tests that build small ONNX models through protobuf, and import and run the models.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx/import.h"
#include "ir/array.h"

namespace tunec::onnx_test {

Array Floats(std::vector<int64_t> shape, const std::vector<float>& values);
Array Ints(std::vector<int64_t> shape, const std::vector<int64_t>& values);
Array Typed(DataType type, std::vector<int64_t> shape, const std::vector<double>& values);
std::vector<double> Values(const Array& array);
/// Returns an array that represents an omitted operand.
inline Array Absent() { return Array(DataType::kBool, {0}); }
/// Returns an f32 array of first, first + step, first + 2 * step and so on, in row-major order.
Array Counting(std::vector<int64_t> shape, float first = 0, float step = 1);

/// The name and the value of a node's attribute, written as `{"axis", 1}` or `{"mode", "edge"}`.
/// The name is not set in `proto`.
struct Attr {
  std::string name;
  onnx::AttributeProto proto;
  Attr(std::string name, int value);
  Attr(std::string name, double value);
  Attr(std::string name, const char* value);
  Attr(std::string name, std::vector<int64_t> values);
  Attr(std::string name, std::vector<float> values);
  Attr(std::string name, const Array& value);
  Attr(std::string name, const onnx::GraphProto& value);
};

int OnnxType(DataType type);
onnx::TensorProto MakeTensor(const std::string& name, const Array& array);

class Model {
 public:
  explicit Model(int64_t opset = 17);
  /// Adds an input. A dimension of -1 is dynamic and has no name.
  Model& Input(const std::string& name, std::vector<int64_t> shape, DataType type = DataType::kF32);
  Model& Constant(const std::string& name, const Array& array);
  Model& Node(const std::string& op, std::vector<std::string> inputs,
              std::vector<std::string> outputs, const std::vector<Attr>& attributes = {},
              const std::string& domain = "");
  Model& Output(const std::string& name);

  onnx::ModelProto& proto() { return proto_; }
  onnx::GraphProto& graph() { return *proto_.mutable_graph(); }
  std::string Bytes() const { return proto_.SerializeAsString(); }
  Result<Graph> Import(const ImportOptions& options = {}) const;

 private:
  onnx::ModelProto proto_;
};

void AddNode(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const std::string& op,
             const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
             const std::vector<Attr>& attributes = {}, const std::string& domain = "");

/// A node with its operands, for tests of one operator. `count` is the number of its outputs.
struct Call {
  std::string op;
  std::vector<Attr> attributes = {};
  std::vector<Array> operands = {};
  std::vector<size_t> constants = {};  // indices of operands that are initializers
  int64_t opset = 17;
  size_t count = 1;
  std::string domain = "";
};
/// Imports the call and runs it by the reference. The operands are graph inputs, except for those
/// of `constants`. Then runs it with all operands as initializers, to test the evaluation during
/// import. Fails the test if the two results differ. Returns the first result or its error.
Result<std::vector<Array>> RunCall(const Call& call);
/// Runs the call as RunCall does and returns its first output. If the call fails, fails the test
/// and returns an empty array.
Array Eval(const Call& call);
/// Imports and runs the call once. Returns the message of the first error, or an empty string if
/// there is none.
std::string ErrorOf(const Call& call);

}  // namespace tunec::onnx_test
