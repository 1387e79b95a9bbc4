#include "graph/passes/fold_linear.h"

#include "graph/passes/rewrite.h"
#include "graph/rules/builtin_rules.h"

namespace tunec {

Result<Graph> FoldLinear(const Graph& graph, const PassOptions& options) {
  return ApplyRules(graph, FoldRules(), options);
}

}  // namespace tunec
