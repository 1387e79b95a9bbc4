#include "graph/passes/canonicalize.h"

#include "graph/passes/rewrite.h"
#include "graph/rules/builtin_rules.h"

namespace tunec {

Result<Graph> Canonicalize(const Graph& graph, const PassOptions& options) {
  return ApplyRules(graph, CanonicalRules(), options);
}

}  // namespace tunec
