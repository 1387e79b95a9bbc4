#include "graph/passes/rewrite.h"

#include "graph/passes/eliminate_dead_nodes.h"

namespace tunec {
namespace {

constexpr int kMostSweeps = 64;

bool IsLeaf(const Node& node) { return node.op == Op::kInput || node.op == Op::kConstant; }

std::vector<int> CountUses(const Graph& graph) {
  std::vector<int> uses(graph.values().size());
  for (const Node& node : graph.nodes())
    for (const ValueId input : node.inputs)
      if (input.valid()) ++uses[input.index];
  for (const ValueId output : graph.outputs()) ++uses[output.index];
  return uses;
}

}  // namespace

bool RewriteSite::MakesOutput() const { return before_.IsOutput(node.outputs[0]); }

const Node* RewriteSite::Producer(size_t input, Op op) const {
  if (input >= inputs.size() || !inputs[input].valid()) return nullptr;
  const Node& producer = graph().producer(inputs[input]);
  return producer.op == op ? &producer : nullptr;
}

bool RewriteSite::IsOnlyUse(size_t input) const { return uses_[node.inputs[input].index] == 1; }

std::optional<double> RewriteSite::Uniform(size_t input) const {
  if (input >= inputs.size() || !inputs[input].valid()) return {};
  const Array* constant = graph().ConstantOf(inputs[input]);
  if (constant == nullptr || constant->size() == 0) return {};
  const size_t width = SizeOf(constant->type());
  const std::byte* first = constant->data();
  for (int64_t i = 1; i < constant->size(); ++i)
    if (!std::equal(first, first + width, first + static_cast<size_t>(i) * width)) return {};
  return constant->GetDouble(0);
}

Result<Graph> ApplyRules(const Graph& graph, std::span<const RewriteRule> rules,
                         const PassOptions& options) {
  TUNEC_ASSIGN(Graph current, EliminateDeadNodes(graph, options));
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool changed = false;
    const std::vector<int> uses = CountUses(current);
    const auto replace = [&](const Node& node, const std::vector<ValueId>& inputs,
                             GraphBuilder& builder) -> Result<std::vector<ValueId>> {
      std::vector<ValueId> unchanged;
      if (IsLeaf(node) || node.outputs.size() != 1) return unchanged;
      const RewriteSite site(current, uses, node, inputs, builder, options.rules);
      for (const RewriteRule& rule : rules) {
        TUNEC_ASSIGN(const std::optional<ValueId> value, rule.apply(site));
        if (!value) continue;
        // An output of the graph is made by a computing node of its own.
        if (site.MakesOutput() && IsLeaf(builder.graph().producer(*value))) continue;
        changed = true;
        return std::vector<ValueId>{*value};
      }
      return unchanged;
    };
    TUNEC_ASSIGN(Graph next, Rebuild(current, replace));
    if (!changed) return current;
    TUNEC_ASSIGN(current, EliminateDeadNodes(next, options));
  }
  return current;
}

}  // namespace tunec
