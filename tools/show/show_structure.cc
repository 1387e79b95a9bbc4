#include "tools/show/show_structure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "tools/show/show_graph.h"

namespace tunec {
namespace {

std::string NamesOf(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (const NodeId id : nodes)
    if (std::ranges::find(names, graph.node(id).name) == names.end())
      names.push_back(graph.node(id).name);
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

/// A search for the node at which two paths to a join begin. The search goes backward from both
/// operands and visits the latest node first.
class ForkSearch {
 public:
  ForkSearch(const Graph& graph, ValueId a, ValueId b) : graph_(graph) {
    Mark(a, 1);
    Mark(b, 2);
    while (!marks_.empty()) {
      const auto [node, mark] = *marks_.rbegin();
      marks_.erase(std::prev(marks_.end()));
      if (mark == 3) {
        fork_ = NodeId{node};
        return;
      }
      ways_[mark - 1].push_back({node});
      for (const ValueId input : graph.nodes()[node].inputs)
        if (input.valid()) Mark(input, mark);
    }
  }

  /// Returns the node that the search found, if any.
  std::optional<NodeId> fork() const { return fork_; }
  /// Returns the visited nodes that only this operand (0 or 1) depends on, in graph order.
  std::vector<NodeId> way(int operand) const {
    return {ways_[operand].rbegin(), ways_[operand].rend()};
  }

 private:
  // Constants are left out: a constant on which both operands depend is not a common origin.
  void Mark(ValueId value, int mark) {
    const Value& of = graph_.value(value);
    if (graph_.node(of.producer).op != Op::kConstant) marks_[of.producer.index] |= mark;
  }

  const Graph& graph_;
  std::map<int32_t, int> marks_;  // nodes still to visit
  std::vector<NodeId> ways_[2];
  std::optional<NodeId> fork_;
};

bool HasContraction(const Graph& graph, const std::vector<NodeId>& nodes) {
  return std::ranges::any_of(
      nodes, [&](NodeId id) { return PatternOf(graph.node(id).op) == OpPattern::kContraction; });
}

std::optional<Residual> ResidualAt(const Graph& graph, NodeId join, ValueId a, ValueId b) {
  const ForkSearch ways(graph, a, b);
  if (!ways.fork()) return std::nullopt;
  std::vector<NodeId> longer = ways.way(0), shorter = ways.way(1);
  if (longer.size() < shorter.size()) std::swap(longer, shorter);
  if (longer.size() == shorter.size() || !HasContraction(graph, longer)) return std::nullopt;
  return Residual{join, graph.node(*ways.fork()).outputs[0], std::move(longer), std::move(shorter)};
}

std::string OperatorsOf(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (const NodeId id : nodes) names.emplace_back(Name(graph.node(id).op));
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

TextTable DependencyTable(const Graph& graph) {
  const ValueUsers users = graph.Users();
  TextTable table(
      {{"node"}, {"depends on", Align::kLeft, "depends_on"}, {"used by", Align::kLeft, "used_by"}});
  for (const Node& node : graph.nodes()) {
    std::vector<NodeId> operands, readers;
    for (const ValueId input : node.inputs)
      if (input.valid()) operands.push_back(graph.value(input).producer);
    for (const ValueId output : node.outputs)
      readers.insert(readers.end(), users[output].begin(), users[output].end());
    std::string used_by = NamesOf(graph, readers);
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      if (std::ranges::find(node.outputs, graph.outputs()[i]) == node.outputs.end()) continue;
      const std::string& name = graph.output_names()[i];
      used_by = used_by == "-" ? fmt::format("output {}", name)
                               : fmt::format("{}, output {}", used_by, name);
    }
    table.AddRow({node.name, NamesOf(graph, operands), used_by});
  }
  return table;
}

TextTable OperatorCountTable(const Graph& graph) {
  std::map<std::pair<OpKind, std::string_view>, int> counts;
  for (const Node& node : graph.nodes()) counts[{KindOf(node.op), Name(node.op)}] += 1;
  TextTable table({{"kind"}, {"operator"}, {"nodes", Align::kRight}});
  for (const auto& [of, count] : counts)
    table.AddRow({std::string(KindName(of.first)), std::string(of.second), CountCell(count)});
  return table;
}

std::vector<Residual> FindResiduals(const Graph& graph) {
  std::vector<Residual> residuals;
  for (int32_t n = 0; n < static_cast<int32_t>(graph.nodes().size()); ++n) {
    const Node& node = graph.nodes()[n];
    if (node.op != Op::kAdd && node.op != Op::kConcat) continue;
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      auto residual = ResidualAt(graph, {n}, node.inputs[0], node.inputs[i]);
      if (residual) residuals.push_back(*std::move(residual));
    }
  }
  return residuals;
}

TextTable ResidualTable(const Graph& graph, const std::vector<Residual>& residuals) {
  TextTable table({{"join"}, {"from"}, {"skip"}, {"around"}});
  for (const Residual& residual : residuals)
    table.AddRow({graph.node(residual.join).name, graph.value(residual.from).name,
                  residual.skip.empty() ? "identity" : OperatorsOf(graph, residual.skip),
                  OperatorsOf(graph, residual.around)});
  return table;
}

}  // namespace tunec
