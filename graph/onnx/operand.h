// The values of a model while it is imported, and the nodes made from them. Internal to
// graph/onnx.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx/operand_shape.h"
#include "ir/array.h"

namespace tunec::onnx_import {

/// A value of the graph being built, or a constant. A constant gets its node when the first
/// other node reads it, so shape arithmetic leaves no trace in the graph.
struct OperandState {
  std::string name;
  DataType type = DataType::kF32;
  OperandShape shape;
  ValueId value;  // invalid until it has a node
  std::optional<Array> constant;
  bool poisoned = false;  // made by an unsupported node: nothing is known of it

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};
/// Null: an omitted optional input.
using Operand = std::shared_ptr<OperandState>;

/// Adds nodes to the graph, except those it can evaluate at once.
class Emitter {
 public:
  explicit Emitter(std::string graph_name) : builder_(std::move(graph_name)) {}

  Result<Operand> AddInput(const std::string& name, DataType type, std::vector<int64_t> shape);
  Operand AddConstant(Array array, std::string name = "");
  /// From here on what does nothing at these sizes is emitted, too.
  void KeepNoOps() { keeps_no_ops_ = true; }
  bool keeps_no_ops() const { return keeps_no_ops_; }
  /// Nodes emitted from here on are named after this.
  void SetNodeName(std::string name) { node_name_ = std::move(name); }
  /// Names of the values that they make; the operand may be shared with another name.
  void NameValue(const Operand& operand, const std::string& name);

  /// The node's only output: evaluated when all inputs are constants and it is small.
  Result<Operand> Emit(Op op, const std::vector<Operand>& inputs, Attributes attributes);
  void AddOutput(const Operand& operand, const std::string& name);

  /// Makes an array of `value` everywhere: a constant if it is small, else an expand node.
  Result<Operand> Full(const std::vector<int64_t>& shape, const Array& value);

  Graph Build() && { return std::move(builder_).Build(); }

 private:
  ValueId Materialize(const Operand& operand);
  Result<std::optional<Operand>> Fold(Op op, const std::vector<Operand>& inputs,
                                      const Attributes& attributes);

  GraphBuilder builder_;
  std::string node_name_;
  std::set<std::string, std::less<>> weight_names_;
  int64_t emitted_nodes_ = 0;
  bool keeps_no_ops_ = false;
};

}  // namespace tunec::onnx_import
