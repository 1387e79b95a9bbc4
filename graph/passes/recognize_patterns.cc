#include "graph/passes/recognize_patterns.h"

#include "graph/passes/rewrite.h"
#include "graph/rules/builtin_rules.h"

namespace tunec {

Result<Graph> RecognizePatterns(const Graph& graph, const PassOptions& options) {
  return ApplyRules(graph, PatternRules(), options);
}

}  // namespace tunec
