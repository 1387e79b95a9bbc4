// The table of operators' ONNX forms. A form's function writes one node of the graph as ONNX nodes.
// Only graph/onnx uses this file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx/file/model.h"
#include "support/error.h"
#include "support/unique_names.h"

namespace tunec::onnx_export {

using onnx_import::OnnxAttributes;
using onnx_import::OnnxNode;

struct ExportForm;

/// The argument of an export function: the graph node to export, and functions that add ONNX nodes.
/// An ONNX value is represented by its name.
class FormContext {
 public:
  /// Constructs a context. `inputs` are the names of the node's operands, empty where omitted.
  FormContext(const Graph& graph, const Node& node, const ExportForm& form,
              std::vector<std::string> inputs, UniqueNames& names)
      : graph_(graph), node_(node), form_(form), inputs_(std::move(inputs)), names_(names) {}

  const Node& node() const { return node_; }
  const ExportForm& form() const { return form_; }
  bool HasInput(size_t i) const { return i < inputs_.size() && !inputs_[i].empty(); }
  const std::string& input(size_t i) const { return inputs_[i]; }
  const std::vector<std::string>& inputs() const { return inputs_; }
  const ValueType& InputType(size_t i) const { return graph_.value(node_.inputs[i]).type; }
  const ValueType& OutputType() const { return graph_.value(node_.outputs[0]).type; }
  DataType type() const { return InputType(0).type; }
  const Array* ConstantInput(size_t i) const { return graph_.ConstantOf(node_.inputs[i]); }
  /// Returns all sizes of an operand. Fails with kUnsupported if a size is a parameter.
  Result<std::vector<int64_t>> InputShape(size_t i) const;

  /// Adds a node with one output and returns the output's name.
  std::string Emit(std::string_view op_type, std::vector<std::string> inputs,
                   OnnxAttributes attributes = {});
  /// Adds an initializer and returns its name. Scalar converts `value` like Array::SetDouble.
  std::string Constant(Array array);
  std::string Scalar(double value, DataType type);
  std::string Ints(const std::vector<int64_t>& values);  // a list of i64
  /// Returns `x` cast from type `from` to type `to`, or `x` itself if both types are equal.
  std::string Cast(const std::string& x, DataType from, DataType to);

  std::vector<OnnxNode> TakeNodes() { return std::move(nodes_); }
  std::vector<std::pair<std::string, Array>> TakeInitializers() { return std::move(constants_); }

 private:
  const Graph& graph_;
  const Node& node_;
  const ExportForm& form_;
  std::vector<std::string> inputs_;
  UniqueNames& names_;
  std::vector<OnnxNode> nodes_;
  std::vector<std::pair<std::string, Array>> constants_;
};

struct ExportForm {
  Op op = Op::kIdentity;
  /// Writes the node and returns the name of its value. The pointer is null if the export omits
  /// nodes of this operator.
  Result<std::string> (*write)(FormContext& node) = nullptr;
  std::string_view onnx_name = "";  // ONNX operator, for a `write` of several operators
};

/// Returns the ONNX form of the operator, or null if there is none.
const ExportForm* FindForm(Op op);

/// Writes one ONNX node of the form's ONNX operator, with the graph node's operands and attributes.
Result<std::string> WriteWithAttributes(FormContext& node);
/// Writes one ONNX node of the form's ONNX operator, with the graph node's operands only.
Result<std::string> WriteWithoutAttributes(FormContext& node);

// The parts of the table, one per source file.
std::span<const ExportForm> ElementwiseForms();
std::span<const ExportForm> ContractionForms();
std::span<const ExportForm> AttentionForms();
std::span<const ExportForm> ReductionForms();
std::span<const ExportForm> NormForms();
std::span<const ExportForm> MovementForms();

}  // namespace tunec::onnx_export
