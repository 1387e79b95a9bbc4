// Small ONNX models for tests, built through protobuf.
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
/// Returns first, first + step, ... as f32.
Array Counting(std::vector<int64_t> shape, float first = 0, float step = 1);

/// A description of an attribute: `{"axis", 1}`, `{"mode", "edge"}`, `{"pads", {0, 1}}`.
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

/// One operator with these operands. RunCall runs it by the reference, first with the operands as
/// graph inputs, except for those of `constants`. Then it runs with all operands as constants, to
/// test the evaluation during import. The results must agree. `count` is the number of the node's
/// outputs.
struct Call {
  std::string op;
  std::vector<Attr> attributes = {};
  std::vector<Array> operands = {};
  std::vector<size_t> constants = {};  // operands that are initializers
  int64_t opset = 17;
  size_t count = 1;
  std::string domain = "";
};
Result<std::vector<Array>> RunCall(const Call& call);
/// Returns the first output. If the call fails, fails the test and returns an empty array.
Array Eval(const Call& call);
/// Returns the message of the error of the import or the run, or an empty string.
std::string ErrorOf(const Call& call);

}  // namespace tunec::onnx_test
