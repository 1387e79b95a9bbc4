// The values of a model while it is imported, and an emitter of nodes. Only graph/onnx uses this
// file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx/counting.h"
#include "graph/onnx/operand_shape.h"
#include "ir/array.h"
#include "support/unique_names.h"

namespace tunec::onnx_import {

/// A value of the graph being built, a constant, or integers that contain named sizes. A node for a
/// constant or such integers is added at their first use by a node or a graph output. So shape
/// arithmetic adds no nodes to the graph.
struct OperandState {
  std::string name;
  DataType type = DataType::kF32;
  OperandShape shape;
  ValueId value;  // invalid while a constant has no node
  std::optional<Array> constant;
  std::optional<std::vector<Dim>> sizes;  // elements of which at least one is not constant
  std::optional<Counting> counting;       // known for ranges and values computed from ranges
  /// The operands of a concatenation of integers along `joined_axis`; empty for other values.
  std::vector<std::shared_ptr<OperandState>> joined;
  int64_t joined_axis = 0;
  bool poisoned = false;  // depends on an unsupported node; no other member is valid

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};
/// A reference to an operand, or null, for example for an omitted optional input.
using Operand = std::shared_ptr<OperandState>;

/// A builder of the graph. It evaluates nodes with small constant inputs and results.
class Emitter {
 public:
  explicit Emitter(std::string graph_name) : builder_(std::move(graph_name)) {}

  Result<Operand> AddInput(const std::string& name, DataType type, std::vector<Dim> shape);
  Operand AddConstant(Array array, std::string name = "");
  /// Returns integers as an operand: a constant if no size is named.
  Operand AddSizes(std::vector<Dim> sizes, DataType type, const std::vector<int64_t>& shape);
  /// Makes the handlers of Slice and Pad emit nodes without effect at the imported sizes.
  void RetainNoOps() { retains_no_ops_ = true; }
  bool retains_no_ops() const { return retains_no_ops_; }
  /// Sets the name of the nodes that are emitted next.
  void SetNodeName(std::string name) { node_name_ = std::move(name); }
  /// Sets the name of an operand. Does nothing if the operand has a name or is poisoned.
  void NameValue(const Operand& operand, const std::string& name);

  /// Adds a node and returns its only output. Evaluates the node instead if all inputs are small
  /// constants or sizes and the result is small, or if the node reshapes a constant.
  Result<Operand> Emit(Op op, const std::vector<Operand>& inputs, Attributes attributes);
  Status AddOutput(const Operand& operand, const std::string& name);

  /// Returns an operand whose elements all equal `value`: a constant if the operand is small, else
  /// the output of an expand node.
  Result<Operand> Full(const OperandShape& shape, const Array& value);

  Graph Build() && { return std::move(builder_).Build(); }

 private:
  Result<ValueId> Materialize(const Operand& operand);
  /// Adds the nodes that compute an operand's sizes as data.
  Result<ValueId> AddSizeNodes(const OperandState& operand);
  /// Returns the operand of a concatenation that a slice selects, or nullopt.
  static std::optional<Operand> SelectedPart(Op op, const std::vector<Operand>& inputs,
                                             const Attributes& attributes);
  /// Returns the data in the shape of the indices if the node gathers all elements in their order.
  Result<std::optional<Operand>> FoldGather(Op op, const std::vector<Operand>& inputs,
                                            const Attributes& attributes);
  Result<std::optional<Operand>> Fold(Op op, const std::vector<Operand>& inputs,
                                      const Attributes& attributes);

  GraphBuilder builder_;
  std::string node_name_;
  UniqueNames weight_names_;
  int64_t emitted_nodes_ = 0;
  bool retains_no_ops_ = false;
};

}  // namespace tunec::onnx_import
