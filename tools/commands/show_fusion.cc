#include "tools/commands/show_fusion.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/front_end.h"
#include "graph/fuse_cost.h"
#include "tools/text_table.h"

namespace tunec {
namespace {

/// "h -> s", by the names of the nodes.
std::string Ends(const Graph& graph, const FusionEdge& edge) {
  return fmt::format("{} -> {}", graph.producer(edge.value).name, graph.node(edge.consumer).name);
}

/// "group 3", or nothing for a reader that is in no group.
std::string GroupText(int32_t group) { return group < 0 ? "" : fmt::format("group {}", group); }

/// Returns how many rows it added.
size_t AddGroup(const Graph& graph, const FusionPlan& plan, size_t g, TextTable& table) {
  const auto id = static_cast<int32_t>(g);
  const std::vector<FusionEdge> within = plan.EdgesWithin(g), borders = plan.Borders(g);
  for (const FusionEdge& edge : within)
    table.AddRow({"  inside", Ends(graph, edge), "", std::string(Describe(edge.reason)),
                  Explain(edge.cost)});
  for (const FusionEdge& edge : borders) {
    const bool leaves = edge.from == id;
    table.AddRow({leaves ? "  border, to" : "  border, from", Ends(graph, edge),
                  GroupText(leaves ? edge.into : edge.from), std::string(Describe(edge.reason)),
                  Explain(edge.cost)});
  }
  return within.size() + borders.size();
}

}  // namespace

std::string PrintFusion(const Graph& graph, const FusionPlan& plan) {
  TextTable table({{"group"}, {"edge"}, {"with"}, {"why"}, {"saves, or would"}});
  std::vector<size_t> first_line;  // of each group; line 0 is the header
  size_t rows = 1;
  size_t single = 0;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    first_line.push_back(rows);
    rows += AddGroup(graph, plan, g, table);
    single += plan.groups[g].nodes.size() == 1 ? 1 : 0;
  }
  const std::vector<std::string> lines = table.Lines();
  first_line.push_back(lines.size());
  // Headings stand between the rows, so that their length widens no column.
  std::string text = lines[0] + "\n";
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    text += fmt::format("{}  {}: {}\n", g, NameOfGroup(graph, plan.groups[g]),
                        DescribeGroup(graph, plan.groups[g]));
    for (size_t line = first_line[g]; line < first_line[g + 1]; ++line) text += lines[line] + "\n";
  }
  return fmt::format("{}\n{}, {} of one node\n", text, CountText(std::ssize(plan.groups), "group"),
                     single);
}

std::string PrintFusionCandidates(const Graph& graph, const FusionPlan& plan) {
  TextTable table({{"value"}, {"from"}, {"to"}, {"decision"}, {"saves, or would"}});
  int64_t fused = 0;
  for (const FusionEdge& edge : plan.edges) {
    fused += IsFused(edge.reason) ? 1 : 0;
    table.AddRow({graph.value(edge.value).name, std::string(Name(graph.producer(edge.value).op)),
                  std::string(Name(graph.node(edge.consumer).op)),
                  std::string(Describe(edge.reason)), Explain(edge.cost)});
  }
  return fmt::format("{}\n{}, {} fused\n", table.Print(),
                     CountText(std::ssize(plan.edges), "candidate"), fused);
}

}  // namespace tunec
