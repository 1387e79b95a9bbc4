// A fuzz target for files of rewrite rules. The rules are applied to a graph with many patterns.
#include "graph/passes/rewrite.h"
#include "graph/rules/parse_rules.h"
#include "graph/text/graph_text.h"
#include "tests/fuzz_input/finding.h"

namespace tunec::fuzz {
namespace {

constexpr const char* kGraph = R"(graph site {
  input x: f32[4, 6]
  input y: f32[6]
  input k: i64[4, 6]
  constant two: f32[] = 2.0
  constant ones: f32[6] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
  a = relu(x)
  b = relu(a)
  c = mul(b, two)
  d = add(c, y)
  e = sub(d, d)
  f = exp(e)
  g = log(f)
  h = transpose(g) {perm=[1, 0]}
  i = transpose(h) {perm=[1, 0]}
  j = add(i, ones)
  l = div(j, two)
  m = neg(l)
  n = matmul(l, h)
  o = abs(k)
  output n
  output m
  output o
}
)";

Graph Site() {
  Result<Graph> graph = ParseGraph(kGraph, "site.graph", NoWeights());
  RequireOk(graph, "the graph that rules are applied to");
  return std::move(*graph);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Graph site = Site();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<std::vector<Rule>> rules = ParseRules(text, "input.rules");
  if (!rules) {
    RequireTheirFault(rules.error(), "reading");
    return 0;
  }
  PassOptions options;
  options.rules = FloatRules::kFast;
  const Result<Graph> rewritten = ApplyRules(site, RuleSet(std::move(*rules)), options);
  if (rewritten) {
    RequireOk(Verify(*rewritten), "a rewritten graph verifies");
  } else {
    RequireTheirFault(rewritten.error(), "applying");
  }
  return 0;
}

}  // namespace tunec::fuzz
