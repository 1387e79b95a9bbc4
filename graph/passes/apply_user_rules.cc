#include "graph/passes/apply_user_rules.h"

#include "graph/passes/rewrite.h"

namespace tunec {

Result<Graph> ApplyUserRules(const Graph& graph, const PassOptions& options) {
  if (options.user_rules == nullptr || options.user_rules->empty()) return graph;
  return ApplyRules(graph, *options.user_rules, options);
}

}  // namespace tunec
