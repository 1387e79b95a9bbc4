#include "graph/passes/canonicalize.h"

namespace tunec {

Result<Graph> Canonicalize(const Graph& graph, const PassOptions& options) {
  std::vector<RewriteRule> rules(AlgebraRules().begin(), AlgebraRules().end());
  rules.insert(rules.end(), MovementRules().begin(), MovementRules().end());
  return ApplyRules(graph, rules, options);
}

}  // namespace tunec
