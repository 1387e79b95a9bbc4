// The importer, which converts an OnnxModel to a Graph. Only graph/onnx uses this file.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/onnx/file/model.h"
#include "graph/onnx/import.h"
#include "graph/onnx/operand.h"
#include "graph/onnx/unsupported_nodes.h"
#include "graph/open_dimensions.h"

namespace tunec::onnx_import {

/// The values, opsets by domain and call's arguments that the nodes of one graph or function body
/// refer to. A node of a subgraph can also refer to values of the enclosing graphs.
struct Scope {
  const Scope* outer = nullptr;  // null for the model's graph and for function bodies
  std::map<std::string, int64_t, std::less<>> opsets;
  const OnnxAttributes* arguments = nullptr;  // values of attribute references
  std::map<std::string, Operand, std::less<>> values;

  const Operand* Find(std::string_view name) const;
};

/// The importer of one model. Nodes are translated in the file's order, which must be topological.
/// If a node is unsupported, the error is recorded and the node's outputs are poisoned. So one
/// error can report several unsupported nodes.
class Importer {
 public:
  Importer(OnnxModel model, ImportOptions options);
  Result<Graph> Run();

 private:
  Status AddInputs(const OnnxGraph& graph, Scope& scope);
  Result<Operand> AddInput(const OnnxValue& input, const std::vector<Dim>& shape);
  Status AddInitializers(OnnxGraph& graph, Scope& scope);
  Status ImportNodes(const std::vector<OnnxNode>& nodes, Scope& scope, int depth);
  Status ImportNode(const OnnxNode& node, Scope& scope, int depth);
  /// Returns the outputs. An output that is not computed is null, or missing at the end.
  Result<std::vector<Operand>> Translate(const OnnxNode& node, const Scope& scope,
                                         const std::vector<Operand>& inputs, int depth);
  Result<std::vector<Operand>> InlineFunction(const OnnxNode& node, const OnnxFunction& function,
                                              const std::vector<Operand>& inputs, int depth);
  Result<std::vector<Operand>> TakeBranch(const OnnxNode& node, const Scope& scope,
                                          const std::vector<Operand>& inputs, int depth);
  Result<std::vector<Operand>> OperandsOf(const std::vector<std::string>& names,
                                          const Scope& scope) const;
  Status Define(const OnnxNode& node, std::vector<Operand> outputs, Scope& scope);
  OnnxModel model_;
  Emitter emitter_;
  const ImportOptions options_;  // includes shapes of constants
  UnsupportedNodes unsupported_;
  int64_t imported_nodes_ = 0;
};

/// Adds the shapes of constants to the options' shapes. Fails if the options also contain a
/// different shape for the input of a constant.
Result<ImportOptions> WithShapesOfConstants(ImportOptions options);

/// Returns the shapes of the graph's inputs, except initializers, by name. Named sizes without a
/// number stay if the options say so. Otherwise one error lists all inputs whose shapes neither the
/// model nor the options fix.
Result<std::map<std::string, std::vector<Dim>, std::less<>>> ResolveInputShapes(
    const OnnxGraph& graph, const ImportOptions& options);

/// Returns default sizes of the named dimensions without a given size. Fails for options that do
/// not fit the inputs, and for an input of unknown rank without a given shape.
Result<DefaultSizes> DefaultSizesOf(const OnnxGraph& graph, ImportOptions options);

}  // namespace tunec::onnx_import
