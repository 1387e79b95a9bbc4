// Local rewrites: rules that look at one node and its operands' producers, applied to every
// node until none applies. Rules read the graph being built, whose values the inputs are.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/passes/pass.h"

namespace tunec {

/// A node about to be copied, and the graph so far.
class RewriteSite {
 public:
  RewriteSite(const Graph& before, const std::vector<int>& uses, const Node& node,
              const std::vector<ValueId>& inputs, GraphBuilder& builder, FloatRules rules)
      : node(node), inputs(inputs), builder(builder), rules(rules), before_(before), uses_(uses) {}

  const Node& node;
  const std::vector<ValueId>& inputs;
  GraphBuilder& builder;
  const FloatRules rules;

  const Graph& graph() const { return builder.graph(); }
  const ValueType& output_type() const { return before_.value(node.outputs[0]).type; }
  bool MakesOutput() const;
  /// The node that makes input i, when its operator is `op`; else null. Valid until the
  /// builder adds a node.
  const Node* Producer(size_t input, Op op) const;
  /// Whether this node is the only reader of its input, and that is no graph output.
  bool IsOnlyUse(size_t input) const;
  /// The value of a constant input whose elements are all equal.
  std::optional<double> Uniform(size_t input) const;
  /// Whether the value has the type (and shape) of the node's output.
  bool HasOutputType(ValueId value) const { return graph().value(value).type == output_type(); }
  bool IsFloatType() const { return IsFloat(output_type().type); }

 private:
  const Graph& before_;
  const std::vector<int>& uses_;  // of the values of `before_`
};

/// A rule returns the value that replaces the node's only output, or nothing.
using RewriteResult = Result<std::optional<ValueId>>;
struct RewriteRule {
  std::string_view name;
  RewriteResult (*apply)(const RewriteSite&);
};

/// Applies the first rule that fires at each node, sweep after sweep until none does (at most
/// 64 sweeps: every rule shrinks the graph or moves it towards the normal form). Nodes that
/// are not needed any more stay, dead.
Result<Graph> ApplyRules(const Graph& graph, std::span<const RewriteRule> rules,
                         const PassOptions& options);

}  // namespace tunec
