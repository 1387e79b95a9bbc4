#include "tests/fuzz/check_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "graph/fuse/store_as_bf16.h"
#include "graph/passes/pipeline.h"
#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "support/random.h"
#include "tests/fuzz/run_code.h"
#include "tests/fuzz/run_groups.h"
#include "tests/fuzz/stable_reference.h"
#include "tests/graph/fuse_groups.h"

namespace tunec::fuzz {
namespace {

CheckResult Rejected(const Error& error) { return {Outcome::kRejected, error.message}; }
CheckResult Wrong(std::string_view stage, const std::string& reason) {
  return {Outcome::kWrong, fmt::format("{}: {}", stage, reason)};
}

// Returns kRejected if a user may see the error for a valid graph, otherwise kWrong.
CheckResult Check(std::string_view stage, const Error& error) {
  return IsRejection(error) ? Rejected(error) : Wrong(stage, error.Format());
}

/// A source of weights that returns the constants of a graph with a weight name.
class WeightsOf : public WeightSource {
 public:
  explicit WeightsOf(const Graph& graph) : graph_(graph) {}
  Result<Array> Reserve(const WeightRequest& request) const override {
    for (const Node& node : graph_.nodes())
      if (node.op == Op::kConstant && node.weight_name == request.name) return node.constant;
    return Fail(ErrorCode::kNotFound, "no weight is called {}", request.name);
  }

 private:
  const Graph& graph_;
};

std::string TextProblem(const Graph& graph) {
  const std::string text = Print(graph);
  const auto parsed = ParseGraph(text, "printed", WeightsOf(graph));
  if (!parsed) return parsed.error().Format();
  const std::string again = Print(*parsed);
  if (again == text) return "";
  return fmt::format("its text reads back as another graph:\n{}\nbut\n{}", text, again);
}

/// Executes the graph and returns true if all constants and results of nodes are finite. With other
/// values, FloatRules::kFast may change the results.
bool IsFinite(const Graph& graph, std::span<const Array> inputs) {
  std::map<ValueId, Array> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = inputs[i];
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::kInput) continue;
    if (node.op == Op::kConstant) {
      values[node.outputs[0]] = node.constant;
    } else {
      std::vector<Array> operands;
      for (const ValueId input : node.inputs)
        operands.push_back(input.valid() ? values[input] : Array());
      std::vector<ValueType> types;
      for (const ValueId output : node.outputs) types.push_back(graph.value(output).type);
      const auto results = RunNode(node, operands, types);
      if (!results) return false;
      for (size_t i = 0; i < results->size(); ++i) values[node.outputs[i]] = (*results)[i];
    }
    for (const ValueId output : node.outputs)
      for (int64_t i = 0; i < values[output].size(); ++i)
        if (!std::isfinite(values[output].GetDouble(i))) return false;
  }
  return true;
}

Result<std::vector<Array>> InterpretAll(const Graph& graph, const CheckPlan& plan,
                                        const FusionPlan& fusion, std::span<const Array> inputs) {
  return RunGroups(
      graph, fusion, inputs,
      [&](size_t, const std::vector<Lowering>& lowerings, std::span<const Array> arguments) {
        const size_t choice = std::min(plan.lowering, lowerings.size() - 1);
        return InterpretLowering(lowerings[choice].compute, arguments);
      });
}

// Returns a copy of the graph. If the plan stores a value in another type, the copy rounds the
// value to this type.
Result<Graph> RoundStored(const Graph& graph, const FusionPlan& fusion) {
  return Rebuild(
      graph,
      [&](const Node& node, const std::vector<ValueId>& inputs,
          GraphBuilder& builder) -> Result<std::vector<ValueId>> {
        const auto is_stored = [&](ValueId value) { return fusion.stored.contains(value); };
        if (std::ranges::none_of(node.outputs, is_stored)) return std::vector<ValueId>{};
        TUNEC_ASSIGN(std::vector<ValueId> outputs, builder.CopyNode(graph, node, inputs));
        for (size_t i = 0; i < outputs.size(); ++i) {
          if (!is_stored(node.outputs[i])) continue;
          for (const DataType type :
               {fusion.stored.at(node.outputs[i]), graph.value(node.outputs[i]).type.type}) {
            TUNEC_ASSIGN(outputs[i],
                         builder.Add(Op::kCast, {outputs[i]}, {{"to", std::string(Name(type))}}));
          }
        }
        return outputs;
      });
}

// Checks the fusion plan with values stored as bfloat16, if StoreAsBf16 stores any. The reference
// is the graph that rounds these values.
CheckResult CheckStoredBf16(const Graph& graph, const CheckPlan& plan, FusionPlan fusion,
                            std::span<const Array> inputs) {
  StoreAsBf16(graph, fusion);
  if (fusion.stored.empty()) return {};
  const auto rounded = RoundStored(graph, fusion);
  if (!rounded) return Wrong("terms", rounded.error().Format());
  auto expected = RunReference(*rounded, inputs);
  if (!expected) return Wrong("terms", expected.error().Format());
  OutputChecker checker(*rounded, inputs, *std::move(expected));
  const auto interpreted = InterpretAll(graph, plan, fusion, inputs);
  if (!interpreted) return Check("terms", interpreted.error());
  if (const std::string problem = checker.Check(*interpreted); !problem.empty())
    return Wrong("terms", problem);
  if (!plan.code) return {};
  const auto scheduled = RunRandomSchedules(graph, fusion, inputs, plan.seed);
  if (!scheduled) return Check("terms in a random schedule", scheduled.error());
  if (const std::string problem = checker.Check(*scheduled); !problem.empty())
    return Wrong("terms in a random schedule", problem);
  return {};
}

}  // namespace

bool IsRejection(const Error& error) {
  return error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kResourceLimit;
}

CheckPlan DrawPlan(uint64_t seed, Values values, bool code) {
  Random random(StreamSeed(seed, "plan"));
  CheckPlan plan{.passes = DefaultPipeline(), .values = values, .seed = seed, .code = code};
  const uint64_t kind = random.Below(4);
  const auto any_pass = [&] {
    return std::string(AllPasses()[random.Below(AllPasses().size())].name);
  };
  if (kind == 2) plan.passes = {any_pass()};
  if (kind == 3) {
    plan.passes.clear();
    for (uint64_t i = random.Below(6) + 1; i > 0; --i) plan.passes.push_back(any_pass());
  }
  if (random.Below(8) == 0) plan.rules = FloatRules::kFast;
  if (random.Below(5) == 0) plan.fusion = FusionMode::kUnfused;
  plan.lowering = random.Below(2);
  plan.stores_bf16 = random.Below(4) == 0;
  return plan;
}

std::string Print(const CheckPlan& plan) {
  return fmt::format(
      "# check passes={} rules={} fusion={} lowering={} values={} seed={} code={} terms={}",
      fmt::join(plan.passes, ","), plan.rules == FloatRules::kStrict ? "strict" : "fast",
      plan.fusion == FusionMode::kFused ? "fused" : "unfused", plan.lowering,
      plan.values == Values::kOrdinary ? "ordinary" : "special", plan.seed, plan.code ? 1 : 0,
      plan.stores_bf16 ? 1 : 0);
}

Result<CheckPlan> ParsePlan(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word >> word;  // the words "# check"
  if (word != "check") return Fail(ErrorCode::kParse, "no line of checks: '{}'", text);
  CheckPlan plan;
  while (words >> word) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return Fail(ErrorCode::kParse, "'{}' is no setting", word);
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "passes") {
      std::istringstream names(value);
      for (std::string name; std::getline(names, name, ',');) plan.passes.push_back(name);
    } else if (key == "rules") {
      plan.rules = value == "fast" ? FloatRules::kFast : FloatRules::kStrict;
    } else if (key == "fusion") {
      plan.fusion = value == "fused" ? FusionMode::kFused : FusionMode::kUnfused;
    } else if (key == "values") {
      plan.values = value == "special" ? Values::kSpecial : Values::kOrdinary;
    } else {
      uint64_t number = 0;
      std::from_chars(value.data(), value.data() + value.size(), number);
      if (key == "lowering") plan.lowering = number;
      if (key == "seed") plan.seed = number;
      if (key == "code") plan.code = number != 0;
      if (key == "terms") plan.stores_bf16 = number != 0;
    }
  }
  return plan;
}

CheckResult CheckGraph(const Graph& graph, const CheckPlan& plan) {
  if (Status status = Verify(graph); !status) return Wrong("graph", status.error().Format());
  if (const std::string problem = TextProblem(graph); !problem.empty())
    return Wrong("text", problem);
  const std::vector<Array> inputs = RandomInputs(graph, plan.values, plan.seed);
  auto expected = RunReference(graph, inputs);
  if (!expected) return Check("reference", expected.error());
  if (plan.rules == FloatRules::kFast && !IsFinite(graph, inputs)) return {};
  OutputChecker checker(graph, inputs, *std::move(expected));

  PipelineOptions options;
  options.names = plan.passes;
  options.pass.rules = plan.rules;
  const auto optimised = RunPipeline(graph, options);
  if (!optimised) return Check("passes", optimised.error());
  const Graph& after = optimised->graph;
  if (const std::string problem = TextProblem(after); !problem.empty())
    return Wrong("text after passes", problem);
  const auto plain = RunReference(after, inputs);
  if (!plain) return Wrong("reference after passes", plain.error().Format());
  if (const std::string problem = checker.Check(*plain); !problem.empty())
    return Wrong("passes", problem);

  const auto fusion = PlanFusion(after, plan.fusion);
  if (!fusion) return Check("fusion", fusion.error());
  const auto interpreted = InterpretAll(after, plan, *fusion, inputs);
  if (!interpreted) return Check("interpreter", interpreted.error());
  if (const std::string problem = checker.Check(*interpreted); !problem.empty())
    return Wrong("interpreter", problem);
  if (plan.stores_bf16) {
    const CheckResult stored = CheckStoredBf16(after, plan, *fusion, inputs);
    if (stored.outcome != Outcome::kEqual) return stored;
  }
  if (!plan.code) return {};

  const auto compiled = RunCompiled(graph, plan.fusion, inputs);
  if (!compiled) return Check("machine code", compiled.error());
  if (const std::string problem = checker.Check(*compiled); !problem.empty())
    return Wrong("machine code", problem);
  const auto scheduled = RunRandomSchedules(after, *fusion, inputs, plan.seed);
  if (!scheduled) return Check("random schedule", scheduled.error());
  if (const std::string problem = checker.Check(*scheduled); !problem.empty())
    return Wrong("random schedule", problem);
  return {};
}

}  // namespace tunec::fuzz
