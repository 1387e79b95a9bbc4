#include "tools/show/show_fusion.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/front_end.h"
#include "graph/cost/fuse_cost.h"

namespace tunec {
namespace {

/// Returns the names of the value's producer and of the consumer, such as "h -> s".
std::string Ends(const Graph& graph, const FusionEdge& edge) {
  return fmt::format("{} -> {}", graph.producer(edge.value).name, graph.node(edge.consumer).name);
}

/// Returns a cell such as "group 3", or an empty cell for a node outside all groups.
Cell GroupCell(int32_t group) {
  if (group < 0) return {"", nullptr};
  return {fmt::format("group {}", group), int64_t{group}};
}

/// Adds the rows of a group. Returns their number.
size_t AddGroup(const Graph& graph, const FusionPlan& plan, size_t g, TextTable& table) {
  const auto id = static_cast<int32_t>(g);
  const std::vector<FusionEdge> within = plan.EdgesWithin(g), borders = plan.Borders(g);
  const auto add = [&](const Cell& relation, const FusionEdge& edge, const Cell& with) {
    table.AddRow({CountCell(id), relation, Ends(graph, edge), with,
                  std::string(Describe(edge.reason)), Explain(edge.cost, plan.machine)});
  };
  for (const FusionEdge& edge : within) add({"  inside", "inside"}, edge, {"", nullptr});
  for (const FusionEdge& edge : borders) {
    const bool leaves = edge.from == id;
    add(leaves ? Cell("  border, to", "to") : Cell("  border, from", "from"), edge,
        GroupCell(leaves ? edge.into : edge.from));
  }
  return within.size() + borders.size();
}

}  // namespace

void AddFusion(TableReport& report, const Graph& graph, const FusionPlan& plan) {
  TextTable table({{"group", Align::kRight, "", ColumnVisibility::kInJson},
                   {"group", Align::kLeft, "place"},
                   {"edge"},
                   {"with", Align::kLeft, "with_group"},
                   {"why"},
                   {"saves, or would", Align::kLeft, "saves"}});
  std::vector<size_t> first_line;  // per group; line 0 is the header
  size_t rows = 1;
  size_t single = 0;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    first_line.push_back(rows);
    rows += AddGroup(graph, plan, g, table);
    single += plan.groups[g].nodes.size() == 1 ? 1 : 0;
  }
  const std::vector<std::string> lines = table.Lines();
  first_line.push_back(lines.size());
  // Headings are inserted between finished lines, so that long headings do not widen columns.
  std::string text = lines[0] + "\n";
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    text += fmt::format("{}  {}: {}\n", g, NameOfGroup(graph, plan.groups[g]),
                        DescribeGroup(graph, plan.groups[g]));
    for (size_t line = first_line[g]; line < first_line[g + 1]; ++line) text += lines[line] + "\n";
  }
  text +=
      fmt::format("\n{}, {} of one node\n", CountText(std::ssize(plan.groups), "group"), single);
  report.AddText("fusion", table, text);
}

void AddFusionCandidates(TableReport& report, const Graph& graph, const FusionPlan& plan) {
  TextTable table({{"value"},
                   {"from"},
                   {"to"},
                   {"decision"},
                   {"saves, or would", Align::kLeft, "saves"},
                   {"fused", Align::kLeft, "", ColumnVisibility::kInJson}});
  int64_t fused = 0;
  for (const FusionEdge& edge : plan.edges) {
    fused += IsFused(edge.reason) ? 1 : 0;
    table.AddRow({graph.value(edge.value).name,
                  std::string(Name(graph.producer(edge.value).op)),
                  std::string(Name(graph.node(edge.consumer).op)),
                  std::string(Describe(edge.reason)),
                  Explain(edge.cost, plan.machine),
                  {"", IsFused(edge.reason)}});
  }
  report.Add(
      "fusion_candidates", table,
      fmt::format("\n{}, {} fused\n", CountText(std::ssize(plan.edges), "candidate"), fused));
}

}  // namespace tunec
