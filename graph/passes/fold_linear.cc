#include "graph/passes/fold_linear.h"

#include <fmt/format.h>

#include <string>

#include "graph/passes/rewrite.h"
#include "graph/rules/builtin_rules.h"

namespace tunec {
namespace {

// Returns whether the node multiplies its first operand, not transposed, by a constant float
// matrix. Linear layers have this form.
bool IsLinear(const Graph& graph, const Node& node) {
  if (node.op != Op::kMatmul || node.Int("transpose_a") != 0) return false;
  const Array* weight = graph.ConstantOf(node.inputs[1]);
  return weight != nullptr && weight->shape().size() == 2 && IsFloat(weight->type());
}

// Returns the reason why a constant that `operand` adds or subtracts is not folded into the linear
// layer that reads `operand`. In the reason, {} stands for the operand's name. Returns an empty
// string if no reason is known.
std::string ReasonForShift(const Graph& graph, const Node& operand) {
  const auto is_constant = [&](size_t i) { return graph.ConstantOf(operand.inputs[i]) != nullptr; };
  if (operand.op == Op::kAdd && (is_constant(0) || is_constant(1)))
    return "the constant that {} adds is not folded: nothing bounds it against the other operand";
  if (operand.op == Op::kSub && (is_constant(0) || is_constant(1)))
    return "the constant of {} is not folded: nothing bounds it against the other operand";
  const bool has_bias = operand.op == Op::kLayerNorm && operand.inputs.size() > 2;
  if (has_bias && is_constant(1) && is_constant(2))
    return "the bias of {} is not folded: it exceeds 8 times the scale, or others read the values";
  return "";
}

void NoteShifts(const Graph& graph, const PassOptions& options) {
  if (!options.on_unchanged) return;
  for (const Node& node : graph.nodes()) {
    if (!IsLinear(graph, node)) continue;
    const Node& operand = graph.producer(node.inputs[0]);
    const std::string reason = ReasonForShift(graph, operand);
    if (!reason.empty())
      options.on_unchanged(node, fmt::format(fmt::runtime(reason), operand.name));
  }
}

}  // namespace

Result<Graph> FoldLinear(const Graph& graph, const PassOptions& options) {
  TUNEC_ASSIGN(Graph folded, ApplyRules(graph, FoldRules(), options));
  NoteShifts(folded, options);
  return folded;
}

}  // namespace tunec
