// From the plain model to the Graph. Internal to graph/onnx.
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

namespace tunec::onnx_import {

/// The values that a node can name: those of its own graph or function body, and for a
/// subgraph those around it.
struct Scope {
  const Scope* outer = nullptr;  // null for the model's graph and for function bodies
  std::map<std::string, int64_t, std::less<>> opsets;
  const OnnxAttributes* arguments = nullptr;  // what attribute references stand for
  std::map<std::string, Operand, std::less<>> values;

  const Operand* Find(std::string_view name) const;
};

/// One import. Nodes are translated in the file's order, which must be topological. A node that
/// cannot be translated is noted and poisons its outputs, so that all such nodes are reported.
class Importer {
 public:
  Importer(OnnxModel model, ImportOptions options);
  Result<Graph> Run();

 private:
  Status AddInputs(const OnnxGraph& graph, Scope& scope);
  Result<Operand> AddInput(const OnnxValue& input, const std::vector<int64_t>& shape);
  Status AddInitializers(OnnxGraph& graph, Scope& scope);
  Status ImportNodes(const std::vector<OnnxNode>& nodes, Scope& scope, int depth);
  Status ImportNode(const OnnxNode& node, Scope& scope, int depth);
  /// The outputs, fewer than the node has when the last are not computed.
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
  const ImportOptions options_;  // shapes of constants included
  UnsupportedNodes unsupported_;
  int64_t imported_nodes_ = 0;
};

/// The options with the shapes of their constants among the shapes; an error where an input has
/// another shape there.
Result<ImportOptions> WithShapesOfConstants(ImportOptions options);

/// The shapes of the graph's inputs that are no initializers, by name. One error lists all
/// dimensions that neither the model nor the options fix.
Result<std::map<std::string, std::vector<int64_t>, std::less<>>> ResolveInputShapes(
    const OnnxGraph& graph, const ImportOptions& options);

}  // namespace tunec::onnx_import
