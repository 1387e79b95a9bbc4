#include "graph/passes/verify_pass.h"

#include <algorithm>

#include "graph/compare_arrays.h"
#include "graph/count_graph.h"
#include "graph/passes/same_structure.h"
#include "graph/reference.h"

namespace tunec {
namespace {

using OutputSets = std::vector<std::vector<Array>>;  // the outputs of a graph per set of inputs

/// A graph with the outputs that the reference execution computed for each set of inputs.
struct RunGraph {
  Graph graph;
  OutputSets outputs;
};

Result<OutputSets> RunAll(const Graph& graph, std::span<const InputSet> inputs) {
  OutputSets outputs;
  for (const InputSet& set : inputs) {
    TUNEC_ASSIGN(std::vector<Array> of_set, RunReference(graph, set, Precision::kFloat64));
    outputs.push_back(std::move(of_set));
  }
  return outputs;
}

/// Returns whether a pass changed nothing that HaveSameStructure compares.
bool IsUntouched(const Graph& before, const Graph& after) {
  if (!HaveSameStructure(before, after)) return false;
  return std::ranges::equal(
      before.nodes(), after.nodes(), {}, [](const Node& node) { return node.constant.data(); },
      [](const Node& node) { return node.constant.data(); });
}

std::string TypeText(const ValueType& type) {
  return fmt::format("{} {}", Name(type.type), ShapeText(type.dims));
}

/// Returns a message if the inputs or outputs of both graphs differ in number, name or type.
/// Otherwise returns an empty string.
std::string DifferenceOfInterfaces(const Graph& before, const Graph& after) {
  if (before.inputs().size() != after.inputs().size() ||
      before.output_names() != after.output_names())
    return "the pass changed the inputs or outputs of the graph";
  const auto compare = [&](ValueId old_value, ValueId new_value, const std::string& name) {
    const ValueType& had = before.value(old_value).type;
    const ValueType& has = after.value(new_value).type;
    if (had == has) return std::string();
    return fmt::format("{} is {}, was {}", name, TypeText(has), TypeText(had));
  };
  for (size_t i = 0; i < before.inputs().size(); ++i) {
    const std::string& name = before.value(before.inputs()[i]).name;
    if (after.value(after.inputs()[i]).name != name)
      return fmt::format("input {} was removed", name);
    std::string text = compare(before.inputs()[i], after.inputs()[i], "input " + name);
    if (!text.empty()) return text;
  }
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    std::string text =
        compare(before.outputs()[i], after.outputs()[i], "output " + before.output_names()[i]);
    if (!text.empty()) return text;
  }
  return "";
}

std::string Lint(const Graph& before, const Graph& after) {
  if (const Status status = Verify(after); !status) return status.error().message;
  return DifferenceOfInterfaces(before, after);
}

void CompareNumbers(const RunGraph& before, const RunGraph& after, PassAnswers& answers) {
  answers.inputs = static_cast<int>(before.outputs.size());
  for (size_t set = 0; set < before.outputs.size(); ++set) {
    for (size_t i = 0; i < before.outputs[set].size(); ++i) {
      const std::string& name = before.graph.output_names()[i];
      const OutputError error = CompareOutput(name, after.outputs[set][i], before.outputs[set][i]);
      if (error.Relative() <= answers.error) continue;
      answers.error = error.Relative();
      answers.worst_output = name;
    }
  }
}

/// Compares the outputs of two graphs, and counts the nodes and parameters of both graphs.
Result<PassAnswers> Compare(std::string pass, const RunGraph& before, const RunGraph& after) {
  PassAnswers answers{.pass = std::move(pass)};
  TUNEC_ASSIGN(const GraphCounts had, CountGraph(before.graph));
  TUNEC_ASSIGN(const GraphCounts has, CountGraph(after.graph));
  answers.nodes_before = had.nodes;
  answers.nodes_after = has.nodes;
  answers.parameters_before = had.parameters;
  answers.parameters_after = has.parameters;
  CompareNumbers(before, after, answers);
  return answers;
}

}  // namespace

Result<std::vector<PassAnswers>> VerifyPasses(const Graph& graph, std::span<const NamedPass> passes,
                                              std::span<const InputSet> inputs,
                                              const PassOptions& options) {
  std::vector<PassAnswers> all;
  RunGraph first{.graph = graph, .outputs = {}};
  TUNEC_ASSIGN(first.outputs, RunAll(graph, inputs));
  RunGraph before = first;
  for (const NamedPass& pass : passes) {
    Result<Graph> next = pass.run(before.graph, options);
    if (!next) return Fail(next.error().code, "pass {}: {}", pass.name, next.error().message);
    const std::string name(pass.name);
    if (std::string lint = Lint(before.graph, *next); !lint.empty()) {
      all.push_back({.pass = name, .worst_output = "", .lint = std::move(lint)});
      return all;
    }
    RunGraph after{.graph = *std::move(next), .outputs = before.outputs};
    if (!IsUntouched(before.graph, after.graph)) {
      TUNEC_ASSIGN(after.outputs, RunAll(after.graph, inputs));
    }
    TUNEC_ASSIGN(PassAnswers answers, Compare(name, before, after));
    all.push_back(std::move(answers));
    before = std::move(after);
  }
  if (passes.size() > 1) {
    TUNEC_ASSIGN(PassAnswers answers, Compare("(all)", first, before));
    all.push_back(std::move(answers));
  }
  return all;
}

Result<std::vector<PassAnswers>> VerifyPasses(const Graph& graph,
                                              std::span<const std::string> names,
                                              std::span<const InputSet> inputs,
                                              const PassOptions& options) {
  std::vector<NamedPass> passes;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(AllPasses(), name, &NamedPass::name);
    if (found == AllPasses().end())
      return Fail(ErrorCode::kInvalidArgument, "unknown pass '{}'", name);
    passes.push_back(*found);
  }
  return VerifyPasses(graph, passes, inputs, options);
}

}  // namespace tunec
