#include "graph/passes/merge_common_nodes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "graph/ops/op_table.h"
#include "ir/size/size_text.h"
#include "support/hash.h"

namespace tunec {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

std::string Text(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        // In hexadecimal, two different doubles have different texts.
        if constexpr (std::is_same_v<T, double>)
          return fmt::format("{:a}", value);
        else if constexpr (std::is_same_v<T, std::vector<double>>)
          return fmt::format("{:a}", fmt::join(value, ","));
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          return fmt::format("[{}]", fmt::join(value, ","));
        else if constexpr (std::is_same_v<T, SizeExpr>)
          return Print(value);
        else if constexpr (std::is_same_v<T, std::vector<SizeExpr>>)
          return fmt::format("[{}]", PrintList(value));
        else
          return fmt::format("'{}'", value);
      },
      attribute);
}

std::string ConstantKey(const Array& array) {
  const std::string_view bytes(reinterpret_cast<const char*>(array.data()), array.bytes());
  return fmt::format("constant {} [{}] {}", Name(array.type()), fmt::join(array.shape(), ","),
                     StableHash(bytes));
}

// Returns the key under which equal nodes are merged, or an empty string if the node is never
// merged.
std::string KeyOf(const Graph& graph, const Node& node, const std::vector<ValueId>& inputs) {
  const OpKind kind = KindOf(node.op);
  if (node.op == Op::kInput || kind == OpKind::kControl || kind == OpKind::kMemory) return "";
  for (const ValueId output : node.outputs)
    if (!graph.value(output).layout.IsRowMajor()) return "";
  if (node.op == Op::kConstant)
    return node.constant.bytes() <= kMostBytes ? ConstantKey(node.constant) : "";
  std::string key(Name(node.op));
  for (const ValueId input : inputs) key += fmt::format(" {}", input.index);
  for (const auto& [name, attribute] : node.attributes)
    if (!IsDefault(node.op, name, attribute)) key += " " + name + "=" + Text(attribute);
  return key;
}

// Returns for each node the index of the first node with the same key (KeyOf). Returns the node's
// own index if the key is empty, or if a result of the node is a graph output.
std::vector<int32_t> SameNodes(const Graph& graph) {
  std::unordered_map<std::string, int32_t> seen;
  seen.reserve(graph.nodes().size());
  std::vector<int32_t> same(graph.nodes().size());
  for (int32_t n = 0; n < std::ssize(same); ++n) {
    const Node& node = graph.nodes()[n];
    same[n] = n;
    std::vector<ValueId> inputs;  // each input replaced by its first equal value
    for (const ValueId input : node.inputs) {
      if (!input.valid()) {
        inputs.push_back(input);
        continue;
      }
      const Value& value = graph.value(input);
      inputs.push_back(graph.nodes()[same[value.producer.index]].outputs[value.output]);
    }
    std::string key = KeyOf(graph, node, inputs);
    if (key.empty()) continue;
    const auto [known, fresh] = seen.emplace(std::move(key), n);
    // A node with a graph output is not merged into an earlier node: two graph outputs, each with
    // its own storage, must stay two values.
    const bool is_output =
        std::ranges::any_of(node.outputs, [&](ValueId output) { return graph.IsOutput(output); });
    if (!fresh && !is_output) same[n] = known->second;
  }
  return same;
}

}  // namespace

Result<Graph> MergeCommonNodes(const Graph& graph, const PassOptions&) {
  const std::vector<int32_t> same = SameNodes(graph);
  bool any = false;
  for (int32_t n = 0; n < std::ssize(same); ++n) any |= same[n] != n;
  if (!any) return graph;
  std::vector<ValueId> first(same.size());  // for each retained node: the first value of its copy
  return Rebuild(graph,
                 [&](const Node& node, const std::vector<ValueId>&,
                     GraphBuilder& builder) -> Result<std::vector<ValueId>> {
                   const auto n = static_cast<int32_t>(&node - graph.nodes().data());
                   std::vector<ValueId> values;
                   if (same[n] == n) {
                     // The values of the copy are added after the existing values.
                     first[n] = {static_cast<int32_t>(builder.graph().values().size())};
                     return values;
                   }
                   for (int32_t i = 0; i < std::ssize(node.outputs); ++i)
                     values.push_back({first[same[n]].index + i});
                   return values;
                 });
}

}  // namespace tunec
