#include "tests/fuzz/pad/check_pad.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "graph/reference.h"
#include "graph/specialize.h"
#include "graph/text/graph_text.h"
#include "ir/size/size_condition.h"
#include "support/random.h"
#include "tests/fuzz/pad/check_separable.h"
#include "tests/fuzz/run_code.h"
#include "tests/fuzz/stable_reference.h"
#include "tests/graph/pad/padded_values.h"

namespace tunec::fuzz {
namespace {

CheckResult Wrong(std::string_view stage, const std::string& reason) {
  return {Outcome::kWrong, fmt::format("{}: {}", stage, reason)};
}

CheckResult ResultOf(std::string_view stage, const Error& error) {
  if (IsRejection(error)) return {Outcome::kRejected, fmt::format("{}: {}", stage, error.message)};
  return Wrong(stage, error.Format());
}

/// Returns whether compilation failed because of a constant index out of range. The reference may
/// accept the graph, since only compilation runs the passes that fold indices to constants.
bool HasWrongIndices(const Error& error) {
  return error.code == ErrorCode::kInvalidArgument &&
         error.message.contains(" is out of range, expected ");
}

std::string TextProblem(const Graph& graph) {
  const std::string text = Print(graph);
  const auto parsed = ParseGraph(text, "padded", NoWeights());
  if (!parsed) return parsed.error().Format();
  return Print(*parsed) == text ? "" : "its text reads back as another graph";
}

// Returns the first difference between the padded graph's inputs and the bucket's with parameters,
// or "".
std::string InputProblem(const PaddedGraph& padded, const Graph& bucket) {
  const std::vector<ValueId>& inputs = padded.graph.inputs();
  const size_t own = bucket.inputs().size();
  if (inputs.size() != own + padded.parameters.size())
    return fmt::format("{} inputs, expected the bucket's {} and {} parameters", inputs.size(), own,
                       padded.parameters.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = padded.graph.value(inputs[i]);
    if (i < own) {
      const Value& expected = bucket.value(bucket.inputs()[i]);
      if (input.name != expected.name || input.type != expected.type)
        return fmt::format("input {} is not the bucket's", i);
      continue;
    }
    const SizeParameter& parameter = padded.parameters[i - own];
    if (input.name != parameter.name || input.type != ValueType{parameter.type, {}})
      return fmt::format("parameter {} is not what the graph takes", parameter.name);
  }
  return "";
}

// Returns the first error in the padded graph's outputs, or "". `graph` is the model at `sizes`.
std::string OutputProblem(const PaddedGraph& padded, const Graph& graph, const SizeValues& sizes,
                          const Graph& bucket) {
  if (padded.outputs.size() != graph.outputs().size() ||
      padded.graph.output_names() != graph.output_names())
    return "the outputs are not the model's";
  for (size_t i = 0; i < padded.outputs.size(); ++i) {
    const Value& output = graph.value(graph.outputs()[i]);
    const ValueType& largest = bucket.value(bucket.outputs()[i]).type;
    if (padded.graph.value(padded.graph.outputs()[i]).type != largest)
      return fmt::format("output {} has not the bucket's type", output.name);
    const std::string problem =
        SizesProblem(padded.outputs[i], sizes, output.type.Shape(), largest.Shape());
    if (!problem.empty()) return fmt::format("output {} {}", output.name, problem);
  }
  return "";
}

// Returns the values of the parameters, or no value if one of them has none.
std::optional<std::vector<Array>> ParametersAt(const PaddedGraph& padded, const SizeValues& sizes) {
  std::vector<Array> arrays;
  for (const SizeParameter& parameter : padded.parameters) {
    const std::optional<int64_t> value = Evaluate(parameter.value, sizes);
    if (!value) return {};
    arrays.emplace_back(parameter.type, std::vector<int64_t>());
    arrays.back().SetInt(0, *value);
  }
  return arrays;
}

std::vector<Array> PaddedInputs(const Graph& graph, std::span<const Array> exact, uint64_t seed) {
  Random random(StreamSeed(seed, "garbage"));
  std::vector<Array> inputs;
  for (size_t i = 0; i < exact.size(); ++i) {
    const ValueType& type = graph.value(graph.inputs()[i]).type;
    inputs.push_back(Garbage(type.type, type.Shape(), random));
    CopyIntoPadded(exact[i], inputs.back());
  }
  return inputs;
}

// The check of a padded graph at one set of sizes, at which all conditions hold.
class Run {
 public:
  Run(const PadCase& padded, SizeSet set, const PaddedGraph& made)
      : case_(padded), sizes_(padded.model.sizes[set]), exact_(padded.model.At(set)), made_(made) {}

  CheckResult Check(std::string_view stage, const Graph& bucket) {
    if (const std::string problem = OutputProblem(made_, exact_, sizes_, bucket); !problem.empty())
      return Wrong("form", problem);
    const auto parameters = ParametersAt(made_, sizes_);
    if (!parameters) return Wrong("form", "a parameter has no value");
    const std::vector<Array> inputs = InputsOf(exact_, case_.model.values, case_.seed);
    auto expected = RunReference(exact_, inputs);
    // Without results of the exact graph, padding cannot be checked.
    if (!expected) return {Outcome::kRejected, "exact: " + expected.error().message};
    OutputChecker checker(exact_, inputs, *std::move(expected));
    inputs_ = PaddedInputs(made_.graph, inputs, case_.seed);
    inputs_.insert(inputs_.end(), parameters->begin(), parameters->end());
    const auto plain = RunReference(made_.graph, inputs_);
    if (!plain) return Wrong(stage, plain.error().Format());
    if (const std::string problem = checker.Check(Cropped(*plain)); !problem.empty())
      return Wrong(stage, problem);
    const std::string problem = SeparableProblem(made_, sizes_, case_.model, inputs_, case_.seed);
    if (!problem.empty()) return Wrong("separable", problem);
    return case_.code ? CheckCode(checker) : CheckResult{};
  }

 private:
  CheckResult CheckCode(OutputChecker& checker) const {
    const auto compiled = RunCompiled(made_.graph, FusionMode::kFused, inputs_);
    if (!compiled && HasWrongIndices(compiled.error()))
      return {Outcome::kRejected, compiled.error().message};
    if (!compiled) return ResultOf("machine code", compiled.error());
    const std::string problem = checker.Check(Cropped(*compiled));
    return problem.empty() ? CheckResult{} : Wrong("machine code", problem);
  }

  std::vector<Array> Cropped(std::span<const Array> outputs) const {
    std::vector<Array> exact;
    for (size_t i = 0; i < outputs.size(); ++i)
      exact.push_back(Crop(outputs[i], made_.outputs[i], sizes_));
    return exact;
  }

  const PadCase& case_;
  const SizeValues& sizes_;
  const Graph exact_;
  const PaddedGraph& made_;
  std::vector<Array> inputs_;
};

}  // namespace

std::vector<Array> InputsOf(const Graph& graph, Values values, uint64_t seed) {
  std::vector<Array> inputs = RandomInputs(graph, values, seed);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = graph.value(graph.inputs()[i]).name;
    Random random(StreamSeed(seed, name + " again"));
    Array& input = inputs[i];
    if (name.starts_with("positive"))
      input = RandomIntegers(input.type(), input.shape(), 1, 5, random);
    if (name.starts_with("index") && input.size() > 0 && random.Below(4) == 0)
      input.SetInt(static_cast<int64_t>(random.Below(input.size())), random.Below(2) == 0 ? 90 : 3);
  }
  return inputs;
}

PadResult CheckPad(const PadCase& padded, const Pads& pads) {
  const SizedModel& model = padded.model;
  const auto made = pads(model.named, model.sizes[kBucket]);
  if (!made) return {ResultOf("pad", made.error())};
  const Graph bucket = model.At(kBucket);
  if (const Status status = Verify(made->graph); !status)
    return {Wrong("form", status.error().Format())};
  if (const std::string problem = InputProblem(*made, bucket); !problem.empty())
    return {Wrong("form", problem)};
  if (const std::string problem = TextProblem(made->graph); !problem.empty())
    return {Wrong("text", problem)};
  std::vector<SizeCondition> conditions = ConditionsOf(model.named);
  conditions.insert(conditions.end(), made->conditions.begin(), made->conditions.end());
  PadResult checked;
  for (const SizeSet set : {kExact, kOther}) {
    const bool fits = AllHold(conditions, model.sizes[set]);
    ++(fits ? checked.runs : checked.excluded);
    if (!fits) continue;
    checked.result =
        Run(padded, set, *made).Check(set == kExact ? "padded" : "other sizes", bucket);
    if (checked.result.outcome != Outcome::kEqual) break;
  }
  return checked;
}

}  // namespace tunec::fuzz
