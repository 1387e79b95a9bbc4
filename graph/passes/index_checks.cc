#include "graph/passes/index_checks.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/follow_data.h"
#include "graph/more_outputs.h"
#include "graph/rules/value_range.h"

namespace tunec {
namespace {

bool Gathers(Op op) { return op == Op::kGather || op == Op::kGatherElements; }

bool IsProven(const Graph& graph, const std::vector<int>& uses, ValueId indices, int64_t extent) {
  constexpr int kDeepest = 16;
  UniformValues uniform;
  const MatchSite site{.graph = graph,
                       .root = {},
                       .root_type = graph.value(indices).type,
                       .uses = uses,
                       .rules = FloatRules::kStrict,
                       .uniform = uniform};
  const ValueRange range = RangeOf(site, indices, kDeepest);
  return range.low >= static_cast<double>(-extent) && range.high < static_cast<double>(extent);
}

int64_t IndexedExtent(const Graph& graph, const Node& gather) {
  return graph.value(gather.inputs[0]).type.Shape()[static_cast<size_t>(gather.Int("axis"))];
}

Status CheckConstant(const Graph& graph, const Node& gather, ValueId indices) {
  const Status within = CheckIndices(*graph.ConstantOf(indices), IndexedExtent(graph, gather));
  if (within) return {};
  return Fail(ErrorCode::kInvalidArgument, "{} {}: {}", Name(gather.op), gather.name,
              within.error().message);
}

class CheckFinder {
 public:
  explicit CheckFinder(const Graph& graph)
      : graph_(graph), is_data_(ValuesOfData(graph)), uses_(graph.values().size()) {
    for (const std::string& name : graph.output_names()) names_.Make(name);
    for (const Node& node : graph.nodes())
      for (const ValueId input : node.inputs)
        if (input.valid()) ++uses_[input.index];
  }

  Status Visit(const Node& node) {
    const int64_t extent = IndexedExtent(graph_, node);
    const ValueId indices = SourceOf(graph_, node.inputs[1]);
    if (graph_.ConstantOf(indices) != nullptr) return CheckConstant(graph_, node, indices);
    // Indices computed from constants are usually folded later; a check would prevent the folding.
    if (!is_data_[indices.index] || !seen_.emplace(indices, extent).second) return {};
    if (IsProven(graph_, uses_, indices, extent)) return {};
    Add({.node = node.name, .extent = extent}, indices);
    return {};
  }

  Result<CheckedGraph> Take() && {
    CheckedGraph checked{
        .graph = graph_, .outputs = graph_.outputs().size(), .unproven = unproven_};
    if (added_.empty()) return checked;
    TUNEC_ASSIGN(checked.graph, WithMoreOutputs(graph_, added_));
    return checked;
  }

 private:
  void Add(UnprovenIndices indices, ValueId value) {
    const auto input = std::ranges::find(graph_.inputs(), value);
    if (input != graph_.inputs().end()) {
      indices.position = static_cast<size_t>(input - graph_.inputs().begin());
    } else {
      indices.port = UnprovenIndices::Port::kOutput;
      const auto [port, is_new] =
          output_of_.emplace(value, graph_.outputs().size() + added_.size());
      indices.position = port->second;
      if (is_new) added_.push_back({value, names_.Make(indices.node + ".indices")});
    }
    unproven_.push_back(std::move(indices));
  }

  const Graph& graph_;
  UniqueNames names_;  // of outputs
  std::vector<bool> is_data_;
  std::vector<int> uses_;
  std::set<std::pair<ValueId, int64_t>> seen_;
  std::map<ValueId, size_t> output_of_;
  std::vector<NamedOutput> added_;
  std::vector<UnprovenIndices> unproven_;
};

}  // namespace

Status CheckIndices(const Array& indices, int64_t extent) {
  for (int64_t i = 0; i < indices.size(); ++i) {
    const int64_t index = indices.GetInt(i);
    if (index >= -extent && index < extent) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "index {} at position {} is out of range, expected {} "
                "to {}",
                index, i, -extent, extent - 1);
  }
  return {};
}

Status CheckConstantIndices(const Graph& graph) {
  for (const Node& node : graph.nodes())
    if (Gathers(node.op) && graph.ConstantOf(node.inputs[1]) != nullptr)
      TUNEC_RETURN_IF_ERROR(CheckConstant(graph, node, node.inputs[1]));
  return {};
}

Result<CheckedGraph> AddIndexChecks(const Graph& graph) {
  CheckFinder finder(graph);
  for (const Node& node : graph.nodes())
    if (Gathers(node.op)) TUNEC_RETURN_IF_ERROR(finder.Visit(node));
  return std::move(finder).Take();
}

}  // namespace tunec
