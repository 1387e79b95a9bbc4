#include "tools/show/show_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>

#include "compiler/front_end.h"
#include "graph/count_graph.h"
#include "graph/open_dimensions.h"
#include "graph/specialize.h"
#include "ir/compute.h"
#include "ir/size/size_text.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

constexpr std::array<std::string_view, 5> kKindNames = {"compute", "data", "shape", "control",
                                                        "memory"};

/// Returns "input", "constant" or the kind of the operator; the target column has the operator.
std::string Opcode(const Node& node) {
  if (node.op == Op::kInput) return "input";
  if (node.op == Op::kConstant) return "constant";
  return std::string(kKindNames[static_cast<size_t>(KindOf(node.op))]);
}

}  // namespace

std::string_view KindName(OpKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::string TypeText(const ValueType& type) {
  std::string dims;
  for (const Dim& dim : type.dims) {
    if (!dims.empty()) dims += "x";
    dims += DimText(dim);
  }
  return fmt::format("{}[{}]", Name(type.type), dims);
}

namespace {

struct AttributeText {
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const SizeExpr& value) const { return Print(value); }
  std::string operator()(const std::vector<SizeExpr>& values) const {
    return fmt::format("[{}]", PrintList(values));
  }
  std::string operator()(const std::vector<int64_t>& values) const {
    return fmt::format("[{}]", fmt::join(values, ","));
  }
  std::string operator()(const std::vector<double>& values) const {
    return fmt::format("[{}]", fmt::join(values, ","));
  }
};

std::string Arguments(const Graph& graph, const Node& node) {
  std::vector<std::string> arguments;
  for (const ValueId input : node.inputs)
    arguments.push_back(input.valid() ? graph.value(input).name : "_");
  for (const auto& [name, value] : node.attributes)
    arguments.push_back(fmt::format("{}={}", name, std::visit(AttributeText(), value)));
  return fmt::format("({})", fmt::join(arguments, ", "));
}

std::string Results(const Graph& graph, const Node& node) {
  std::vector<std::string> types;
  for (const ValueId output : node.outputs) types.push_back(TypeText(graph.value(output).type));
  return fmt::format("{}", fmt::join(types, ", "));
}

}  // namespace

std::string CountsByKind(const Graph& graph) {
  std::array<int, kKindNames.size()> counts = {};
  for (const Node& node : graph.nodes()) counts[static_cast<size_t>(KindOf(node.op))] += 1;
  std::vector<std::string> parts;
  for (size_t kind = 0; kind < counts.size(); ++kind)
    parts.push_back(fmt::format("{} {}", kKindNames[kind], counts[kind]));
  const int64_t computing = CountNodes(graph);
  return fmt::format(
      "{}, {}: {}\n", CountText(computing, "node"),
      CountText(std::ssize(graph.nodes()) - computing, "input or constant", "inputs and constants"),
      fmt::join(parts, ", "));
}

std::string ConditionsText(const Graph& graph) {
  if (RequireFixedSizes(graph)) return "";
  const std::vector<SizeCondition> conditions = ConditionsOf(graph);
  if (conditions.empty()) return "";
  std::string text = "\nthe named sizes must satisfy\n";
  for (const SizeCondition& condition : conditions) text += "  " + Print(condition) + "\n";
  return text;
}

TextTable NodeTable(const Graph& graph) {
  TextTable table({{"opcode"}, {"name"}, {"target"}, {"args"}, {"type"}});
  for (const Node& node : graph.nodes())
    table.AddRow({Opcode(node), node.name, std::string(Name(node.op)), Arguments(graph, node),
                  Results(graph, node)});
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value& value = graph.value(graph.outputs()[i]);
    table.AddRow({"output", graph.output_names()[i], "output", fmt::format("({})", value.name),
                  TypeText(value.type)});
  }
  return table;
}

TextTable GroupTable(const FrontReport& front) {
  TextTable table({{"group", Align::kRight},
                   {"kind"},
                   {"nodes"},
                   {"computes"},
                   {"lowerings"},
                   {"flops", Align::kRight},
                   {"bytes", Align::kRight}});
  for (size_t g = 0; g < front.groups.size(); ++g) {
    const GroupReport& group = front.groups[g];
    std::vector<std::string> lowerings;
    for (const NamedCompute& lowering : group.lowerings) lowerings.push_back(lowering.name);
    const Work work = CountWork(group.lowerings[0].compute);
    table.AddRow({CountCell(static_cast<int64_t>(g)),
                  KindOfGroup(front.graph, group.group),
                  NameOfGroup(front.graph, group.group),
                  DescribeGroup(front.graph, group.group),
                  fmt::format("{}", fmt::join(lowerings, " ")),
                  {QuantityText(work.flops), work.flops},
                  {BytesText(work.bytes), work.bytes}});
  }
  return table;
}

}  // namespace tunec
