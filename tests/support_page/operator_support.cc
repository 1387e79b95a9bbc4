#include "tests/support_page/operator_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "compiler/front_end.h"
#include "graph/text/graph_text.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "kernel/compile_kernel.h"
#include "tests/graph/core/reference_cases.h"

namespace tunec {
namespace {

// Returns whether the node defines the second output of a case, the constant of expected results.
bool IsExpected(const Graph& graph, const Node& node) {
  return node.outputs[0] == graph.outputs()[1];
}

// Returns the element types that the operands of a case have. Without operands, these are the types
// that the attributes name.
std::set<DataType> OperandTypes(const Graph& graph) {
  std::set<DataType> of_operands, of_attributes;
  for (const Node& node : graph.nodes()) {
    if (IsLeaf(node.op)) {
      if (!IsExpected(graph, node)) of_operands.insert(graph.value(node.outputs[0]).type.type);
      continue;
    }
    for (const auto& [name, attribute] : node.attributes) {
      const auto* text = std::get_if<std::string>(&attribute);
      if (text == nullptr) continue;
      if (const auto type = ParseDataType(*text)) of_attributes.insert(*type);
    }
  }
  return of_operands.empty() ? of_attributes : of_operands;
}

Attributes Retyped(const Attributes& attributes, DataType before, DataType after) {
  Attributes result = attributes;
  for (auto& [name, attribute] : result) {
    auto* text = std::get_if<std::string>(&attribute);
    if (text != nullptr && *text == Name(before)) *text = Name(after);
  }
  return result;
}

// Returns the case with inputs as operands, and without expected results. Inputs of type `before`
// get the type `after`. Without operands, attributes that name `before` name `after` instead.
// Returns nothing if type inference rejects the type.
std::optional<Graph> Retyped(const Graph& graph, DataType before, DataType after) {
  const bool has_operands = std::ranges::any_of(
      graph.nodes(), [&](const Node& node) { return IsLeaf(node.op) && !IsExpected(graph, node); });
  GraphBuilder builder(graph.name());
  std::map<ValueId, ValueId> values;
  for (const Node& node : graph.nodes()) {
    if (IsLeaf(node.op)) {
      if (IsExpected(graph, node)) continue;
      const Value& value = graph.value(node.outputs[0]);
      ValueType type = value.type;
      if (type.type == before) type.type = after;
      const auto input = builder.AddInput(value.name, type);
      if (!input) return {};
      values[node.outputs[0]] = *input;
      continue;
    }
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs)
      inputs.push_back(input.valid() ? values.at(input) : input);
    const auto outputs = builder.AddNode(
        node.op, inputs, has_operands ? node.attributes : Retyped(node.attributes, before, after),
        node.name);
    if (!outputs) return {};
    for (size_t i = 0; i < outputs->size(); ++i) values[node.outputs[i]] = (*outputs)[i];
  }
  builder.AddOutput(values.at(graph.outputs()[0]));
  return std::move(builder).Build();
}

Status Generate(const Graph& graph, const Target& target) {
  CompileOptions options;
  options.target = target;
  TUNEC_ASSIGN(const FrontReport front, FuseAndLower(graph, options));
  for (const GroupReport& group : front.groups) {
    const NamedCompute& lowering = group.lowerings.front();
    TUNEC_ASSIGN(const KernelLoops loops,
                 RunLoopPipeline(lowering.compute, {.lowering = lowering.name}, {}));
    TUNEC_ASSIGN([[maybe_unused]] const std::string text,
                 EmitText(loops.nest, target, CodeText::kLlvmIr));
  }
  return {};
}

// Returns whether code is generated for the graph. An error other than kUnsupported fails the test.
bool IsGenerated(const Graph& graph, const Target& target) {
  const Status status = Generate(graph, target);
  if (status) return true;
  if (status.error().code != ErrorCode::kUnsupported)
    ADD_FAILURE() << status.error().Format() << "\n" << Print(graph);
  return false;
}

Support SupportOf(const std::optional<Graph>& graph) {
  if (!graph) return Support::kRejected;
  static const Target cpu = SupportedCpu();
  static const Target cuda = SupportedCuda();
  const bool on_cpu = IsGenerated(*graph, cpu);
  const bool on_cuda = IsGenerated(*graph, cuda);
  if (on_cpu && on_cuda) return Support::kBoth;
  if (on_cpu) return Support::kCpu;
  return on_cuda ? Support::kCuda : Support::kReference;
}

// Replaces one operand type of the case by every type, and returns the support of each result. The
// replaced type is the one for which inference accepts the most types. Operands of other types,
// such as indices, are not changed.
std::map<DataType, Support> SupportOfCase(const Graph& graph) {
  std::map<DataType, std::optional<Graph>> most;
  int64_t most_accepted = -1;
  for (const DataType before : OperandTypes(graph)) {
    std::map<DataType, std::optional<Graph>> graphs;
    for (const DataType after : kAllDataTypes) graphs[after] = Retyped(graph, before, after);
    const int64_t accepted =
        std::ranges::count_if(graphs, [](const auto& entry) { return entry.second.has_value(); });
    if (accepted <= most_accepted) continue;
    most_accepted = accepted;
    most = std::move(graphs);
  }
  std::map<DataType, Support> support;
  for (const auto& [type, retyped] : most) support[type] = SupportOf(retyped);
  return support;
}

}  // namespace

Target SupportedCpu() { return *ParseCpu("sapphirerapids", 2); }

Target SupportedCuda() {
  return {.host = SupportedCpu().host, .device = *CudaAccelerator("sm_90a")};
}

std::vector<OperatorSupport> FindOperatorSupport() {
  std::vector<OperatorSupport> operators;
  for (const Op op : kAllOps) {
    if (!IsLeaf(op)) operators.push_back({.op = op});
  }
  for (const std::string& text : LoadReferenceCases()) {
    const auto graph = ParseGraph(text, "case.graph", NoWeights());
    EXPECT_TRUE(graph) << text;
    if (!graph) continue;
    const auto found = std::ranges::find_if(
        operators, [&](const OperatorSupport& entry) { return Name(entry.op) == graph->name(); });
    if (found == operators.end()) continue;
    ++found->cases;
    // Any case after an operator's first is compiled only if some type is not yet supported on both
    // targets.
    if (found->cases > 1 && std::ranges::none_of(found->types, [](const auto& entry) {
          return entry.second != Support::kBoth;
        }))
      continue;
    for (const auto& [type, support] : SupportOfCase(*graph)) {
      Support& known = found->types[type];
      known = std::max(known, support);
    }
  }
  return operators;
}

}  // namespace tunec
