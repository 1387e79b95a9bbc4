#include "graph/passes/merge_common_nodes.h"

#include <fmt/ranges.h>

#include <map>

#include "support/hash.h"

namespace tunec {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

std::string Text(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        // Hexadecimal: two doubles that differ have different texts.
        if constexpr (std::is_same_v<T, double>)
          return fmt::format("{:a}", value);
        else if constexpr (std::is_same_v<T, std::vector<double>>)
          return fmt::format("{:a}", fmt::join(value, ","));
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          return fmt::format("[{}]", fmt::join(value, ","));
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

// Empty: never merged.
std::string KeyOf(const Graph& graph, const Node& node, const std::vector<ValueId>& inputs) {
  const OpKind kind = KindOf(node.op);
  if (node.op == Op::kInput || kind == OpKind::kControl || kind == OpKind::kMemory) return "";
  for (const ValueId output : node.outputs)
    if (!graph.value(output).layout.IsRowMajor()) return "";
  if (node.op == Op::kConstant)
    return node.constant.bytes() <= kMostBytes ? ConstantKey(node.constant) : "";
  std::string key(Name(node.op));
  for (const ValueId input : inputs) key += fmt::format(" {}", input.index);
  for (const auto& [name, attribute] : node.attributes) key += " " + name + "=" + Text(attribute);
  return key;
}

}  // namespace

Result<Graph> MergeCommonNodes(const Graph& graph, const PassOptions&) {
  // The values, in the graph being built, of the nodes seen so far.
  std::map<std::string, std::vector<ValueId>> seen;
  std::vector<bool> is_output(graph.values().size());
  for (const ValueId output : graph.outputs()) is_output[output.index] = true;
  return Rebuild(graph,
                 [&](const Node& node, const std::vector<ValueId>& inputs,
                     GraphBuilder& builder) -> Result<std::vector<ValueId>> {
                   const std::string key = KeyOf(graph, node, inputs);
                   if (key.empty()) return std::vector<ValueId>{};
                   if (const auto known = seen.find(key); known != seen.end()) {
                     // Two outputs of the graph stay two values: each has storage of its own.
                     for (const ValueId output : node.outputs)
                       if (is_output[output.index]) return std::vector<ValueId>{};
                     return known->second;
                   }
                   // The copy's values follow those that are there.
                   const auto first = static_cast<int32_t>(builder.graph().values().size());
                   std::vector<ValueId>& values = seen[key];
                   for (size_t i = 0; i < node.outputs.size(); ++i)
                     values.push_back({first + static_cast<int32_t>(i)});
                   return std::vector<ValueId>{};
                 });
}

}  // namespace tunec
