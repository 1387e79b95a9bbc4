#include "graph/specialize.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/open_dimensions.h"
#include "graph/ops/op_table.h"
#include "support/check.h"

namespace tunec {
namespace {

using Replacements = std::map<std::string, SizeExpr>;

Result<Graph> SpecializeWith(const Graph& graph, const Replacements& sizes) {
  return Rebuild(
      graph,
      [&](const Node& node, const std::vector<ValueId>& inputs,
          GraphBuilder& builder) -> Result<std::vector<ValueId>> {
        if (node.op == Op::kConstant) return std::vector<ValueId>{};
        if (node.op == Op::kInput) {
          const Value& value = graph.value(node.outputs[0]);
          ValueType type = value.type;
          for (Dim& dim : type.dims) dim = Substitute(dim, sizes);
          TUNEC_ASSIGN(const ValueId input, builder.AddInput(value.name, std::move(type)));
          if (!value.layout.IsRowMajor()) builder.SetLayout(input, value.layout);
          return std::vector<ValueId>{input};
        }
        const bool has_sizes = std::ranges::any_of(
            node.attributes, [](const auto& entry) { return !SizesOf(entry.second).empty(); });
        // A copy is inferred again if the types of its operands differ.
        if (!has_sizes && node.bodies.empty()) return std::vector<ValueId>{};
        Attributes attributes = node.attributes;
        for (auto& [name, attribute] : attributes) attribute = Substitute(attribute, sizes);
        std::vector<std::shared_ptr<const Graph>> bodies;
        for (const std::shared_ptr<const Graph>& body : node.bodies) {
          TUNEC_ASSIGN(Graph inner, SpecializeWith(*body, sizes));
          bodies.push_back(std::make_shared<const Graph>(std::move(inner)));
        }
        TUNEC_ASSIGN(std::vector<ValueId> outputs,
                     builder.AddControl(node.op, inputs, std::move(bodies), std::move(attributes),
                                        node.name, node.where));
        for (size_t i = 0; i < outputs.size(); ++i) {
          const Value& value = graph.value(node.outputs[i]);
          builder.RenameValue(outputs[i], value.name);
          if (!value.layout.IsRowMajor()) builder.SetLayout(outputs[i], value.layout);
        }
        return outputs;
      });
}

void Assume(SizeCondition condition, std::vector<SizeCondition>& conditions) {
  if (Decide(condition, {}) != Decision::kTrue) conditions.push_back(std::move(condition));
}

// Adds that the divisors of an expression are positive.
void CollectDivisors(const SizeExpr& size, std::vector<SizeCondition>& conditions) {
  for (const SizeTerm& term : size.terms()) {
    for (const SizeFactorPtr& factor : term.factors) {
      for (const SizeExpr& operand : factor->operands) CollectDivisors(operand, conditions);
      if (factor->kind == SizeFactor::Kind::kDivision ||
          factor->kind == SizeFactor::Kind::kRemainder)
        Assume({SizeCondition::Kind::kAtMost, 1, factor->operands[1]}, conditions);
    }
  }
}

void Collect(const Graph& graph, std::vector<SizeCondition>& conditions) {
  for (const ValueId input : graph.inputs()) {
    for (const Dim& dim : graph.value(input).type.dims) {
      CollectDivisors(dim, conditions);
      Assume({SizeCondition::Kind::kAtMost, 0, dim}, conditions);
    }
  }
  for (const Node& node : graph.nodes()) {
    for (const auto& [name, attribute] : node.attributes)
      for (const SizeExpr& size : SizesOf(attribute)) CollectDivisors(size, conditions);
  }
  for (const Node& node : graph.nodes()) {
    if (IsLeaf(node.op)) continue;
    for (const std::shared_ptr<const Graph>& body : node.bodies) Collect(*body, conditions);
    std::vector<const ValueType*> operands;
    for (const ValueId input : node.inputs)
      operands.push_back(input.valid() ? &graph.value(input).type : nullptr);
    Attributes attributes = node.attributes;
    const auto types = Infer(node.op, operands, attributes, node.bodies, &conditions);
    TUNEC_CHECK(types.has_value(), "node {} of a valid graph has no types", node.name);
  }
}

}  // namespace

std::vector<SizeCondition> ConditionsOf(const Graph& graph) {
  std::vector<SizeCondition> conditions;
  Collect(graph, conditions);
  std::vector<SizeCondition> unique;
  std::set<SizeCondition> seen;
  for (const SizeCondition& condition : conditions)
    if (seen.insert(condition).second) unique.push_back(condition);
  return unique;
}

bool AllHold(const std::vector<SizeCondition>& conditions, const SizeValues& sizes) {
  return std::ranges::all_of(conditions, [&](const SizeCondition& condition) {
    return Holds(condition, sizes).value_or(false);
  });
}

Result<Graph> Specialize(const Graph& graph, const SizeValues& sizes) {
  TUNEC_RETURN_IF_ERROR(RequireSizes(sizes));
  Replacements replacements;
  for (const auto& [name, size] : sizes) replacements.emplace(name, size);
  return SpecializeWith(graph, replacements);
}

Result<Graph> RenameSize(const Graph& graph, const std::string& from, const std::string& to) {
  return SpecializeWith(graph, {{from, SizeExpr::Named(to)}});
}

}  // namespace tunec
