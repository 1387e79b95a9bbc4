#include "tools/draw/draw_graph.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "support/file.h"
#include "support/temporary_folder.h"
#include "tools/show/show_graph.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

constexpr const char* kNoGroup = "#f2f2f2";
constexpr size_t kLongestName = 32;

/// Returns a pale colour for a group. The hues of consecutive groups are 0.618 of the colour circle
/// apart.
std::string ColourOf(size_t group) {
  constexpr double kGoldenRatio = 0.61803398875;
  const double hue = std::fmod(0.08 + static_cast<double>(group) * kGoldenRatio, 1.0);
  return fmt::format("{:.3f} 0.30 0.97", hue);
}

/// Returns the text for a quoted string of DOT, with escapes and without bytes below the space.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (static_cast<unsigned char>(c) >= ' ') escaped += c;
  }
  return escaped;
}

/// Indices of groups by the names of their nodes. Names of nodes without a group are missing.
using Colours = std::map<std::string, size_t>;

/// A drawing of one of the two graphs: a cluster with nodes and edges. `prefix` makes ids unique.
class Drawing {
 public:
  Drawing(const Graph& graph, std::string prefix, const Colours& group_of)
      : graph_(graph), prefix_(std::move(prefix)), group_of_(group_of) {}

  /// Returns the cluster's DOT text. Each group of several nodes in `framed`, if given, has a
  /// frame.
  std::string Draw(const std::string& title, const FusionPlan* framed) const {
    std::string text =
        fmt::format("  subgraph cluster_{} {{\n    label=\"{}\"; fontsize=20; color=\"#999999\";\n",
                    prefix_, Escaped(title));
    std::vector<bool> drawn(graph_.nodes().size());
    for (size_t g = 0; framed != nullptr && g < framed->groups.size(); ++g) {
      if (framed->groups[g].nodes.size() < 2) continue;
      text += fmt::format(
          "    subgraph cluster_{}_{} {{\n      label=\"{}\"; fontsize=9; "
          "labeljust=l; style=rounded; color=\"#555555\";\n",
          prefix_, g, g);
      for (const NodeId id : framed->groups[g].nodes) {
        text += "  " + NodeLine(id.index);
        drawn[id.index] = true;
      }
      text += "    }\n";
    }
    for (size_t n = 0; n < drawn.size(); ++n)
      if (!drawn[n] && IsDrawn(n)) text += NodeLine(n);
    for (size_t i = 0; i < graph_.outputs().size(); ++i) text += OutputLines(i);
    for (size_t n = 0; n < drawn.size(); ++n) text += EdgeLines(n);
    return text + "  }\n";
  }

 private:
  bool IsDrawn(size_t n) const { return graph_.nodes()[n].op != Op::kConstant; }

  std::string NodeLine(size_t n) const {
    const Node& node = graph_.nodes()[n];
    std::string label{Name(node.op)};
    if (node.name != label) label += "\\n" + Escaped(Shorten(node.name, kLongestName));
    if (!node.outputs.empty())
      label += "\\n" + Escaped(TypeText(graph_.value(node.outputs[0]).type));
    const auto group = group_of_.find(node.name);
    const std::string colour = node.op == Op::kInput      ? "#ffffff"
                               : group == group_of_.end() ? kNoGroup
                                                          : ColourOf(group->second);
    return fmt::format("    {}{} [label=\"{}\", tooltip=\"{}\", fillcolor=\"{}\"{}];\n", prefix_, n,
                       label, Escaped(node.name), colour,
                       node.op == Op::kInput ? ", shape=ellipse" : "");
  }

  std::string OutputLines(size_t i) const {
    const int32_t from = graph_.value(graph_.outputs()[i]).producer.index;
    std::string lines =
        fmt::format("    {}out{} [label=\"output\\n{}\", shape=ellipse];\n", prefix_, i,
                    Escaped(Shorten(graph_.output_names()[i], kLongestName)));
    if (IsDrawn(from)) lines += fmt::format("    {0}{1} -> {0}out{2};\n", prefix_, from, i);
    return lines;
  }

  std::string EdgeLines(size_t n) const {
    std::string lines;
    for (const ValueId input : graph_.nodes()[n].inputs) {
      if (!input.valid()) continue;
      const int32_t from = graph_.value(input).producer.index;
      if (IsDrawn(from)) lines += fmt::format("    {0}{1} -> {0}{2};\n", prefix_, from, n);
    }
    return lines;
  }

  const Graph& graph_;
  const std::string prefix_;
  const Colours& group_of_;
};

Colours GroupsAfter(const Graph& graph, const FusionPlan& plan) {
  Colours group_of;
  for (size_t g = 0; g < plan.groups.size(); ++g)
    for (const NodeId id : plan.groups[g].nodes) group_of[graph.node(id).name] = g;
  return group_of;
}

/// Returns the groups of the nodes before the passes. A node has the group of its name in `after`.
/// A node without this group has the group of its readers if all have the same group.
Colours GroupsBefore(const Graph& graph, const Colours& after) {
  const ValueUsers users = graph.Users();
  Colours group_of;
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    if (const auto found = after.find(node.name); found != after.end()) {
      group_of.insert(*found);
      continue;
    }
    std::set<std::optional<size_t>> readers;
    for (const ValueId output : node.outputs) {
      for (const NodeId user : users[output]) {
        const auto group = group_of.find(graph.node(user).name);
        readers.insert(group == group_of.end() ? std::nullopt : std::optional(group->second));
      }
    }
    if (readers.size() == 1 && *readers.begin()) group_of[node.name] = **readers.begin();
  }
  return group_of;
}

int64_t CountComputing(const Graph& graph) {
  int64_t count = 0;
  for (const Node& node : graph.nodes()) count += IsLeaf(node.op) ? 0 : 1;
  return count;
}

/// Runs `dot` to draw `from` into the SVG file `to`. The standard error of `dot` stays visible.
Status RunDot(const std::string& from, const std::string& to) {
  std::string words[] = {"dot", "-Tsvg", "-o", to, from};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                       words[3].data(), words[4].data(), nullptr};
  pid_t process = 0;
  const int failure = posix_spawnp(&process, "dot", nullptr, nullptr, arguments, environ);
  if (failure == ENOENT)
    return Fail(
        ErrorCode::kNotFound,
        "drawing needs the program dot, which is not on PATH: install the package graphviz, "
        "or write the text with --dot");
  if (failure != 0) return Fail(ErrorCode::kIo, "can't run dot: {}", std::strerror(failure));
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Fail(ErrorCode::kIo, "dot failed on {}", from);
}

}  // namespace

std::string DrawDot(const Graph& before, const Graph& after, const FusionPlan& plan) {
  const Colours of_after = GroupsAfter(after, plan), of_before = GroupsBefore(before, of_after);
  std::string text = fmt::format(
      "digraph \"{}\" {{\n  rankdir=TB; fontname=\"Helvetica\"; nodesep=0.15; ranksep=0.25;\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", color=\"#777777\", "
      "fontname=\"Helvetica\", fontsize=10, margin=\"0.08,0.03\"];\n"
      "  edge [color=\"#555555\", arrowsize=0.6];\n",
      Escaped(after.name()));
  text += Drawing(before, "before", of_before)
              .Draw(fmt::format("before: {}", CountText(CountComputing(before), "node")), nullptr);
  text += Drawing(after, "after", of_after)
              .Draw(fmt::format("after: {} in {}", CountText(CountComputing(after), "node"),
                                CountText(std::ssize(plan.groups), "group")),
                    &plan);
  return text + "}\n";
}

Status WriteSvg(const std::string& dot_text, const std::string& path) {
  TUNEC_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::filesystem::path source = folder / "graph.dot", drawn = folder / "graph.svg";
  TUNEC_RETURN_IF_ERROR(WriteFileAtomically(source, dot_text));
  TUNEC_RETURN_IF_ERROR(RunDot(source, drawn));
  TUNEC_ASSIGN(const std::string svg, ReadFile(drawn));
  return WriteFileAtomically(path, svg);
}

}  // namespace tunec
