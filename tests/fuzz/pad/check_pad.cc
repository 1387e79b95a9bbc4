#include "tests/fuzz/pad/check_pad.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "graph/reference.h"
#include "graph/text/graph_text.h"
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

// Returns the first error in the padded graph's form, given the exact graph and the bucket, or "".
std::string FormProblem(const PaddedGraph& padded, const Graph& exact, const Graph& bucket) {
  if (const Status status = Verify(padded.graph); !status) return status.error().Format();
  const std::vector<ValueId>& inputs = padded.graph.inputs();
  if (inputs.size() != bucket.inputs().size() + padded.parameters.size())
    return fmt::format("{} inputs, expected the bucket's {} and {} parameters", inputs.size(),
                       bucket.inputs().size(), padded.parameters.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = padded.graph.value(inputs[i]);
    if (i < bucket.inputs().size()) {
      const Value& expected = bucket.value(bucket.inputs()[i]);
      if (input.name != expected.name || input.type != expected.type)
        return fmt::format("input {} is not the bucket's", i);
      continue;
    }
    const SizeParameter& parameter = padded.parameters[i - bucket.inputs().size()];
    if (input.name != parameter.name || input.type.type != parameter.value.type() ||
        input.type.Shape() != parameter.value.shape())
      return fmt::format("parameter {} is not what the graph takes", parameter.name);
  }
  if (padded.outputs.size() != exact.outputs().size() ||
      padded.graph.output_names() != exact.output_names())
    return "the outputs are not the exact graph's";
  for (size_t i = 0; i < padded.outputs.size(); ++i) {
    const Value& of_exact = exact.value(exact.outputs()[i]);
    const Value& of_padded = padded.graph.value(padded.graph.outputs()[i]);
    if (of_exact.type.type != of_padded.type.type) return "an output has another type";
    const std::string problem =
        SizesProblem(padded.outputs[i], of_exact.type.Shape(), of_padded.type.Shape());
    if (!problem.empty()) return fmt::format("output {} {}", of_exact.name, problem);
  }
  return "";
}

/// Returns the size of each dimension in `graph`, in the order of `padded.dimensions`.
std::vector<int64_t> SizesIn(const Graph& graph, const std::vector<OpenAxis>& open,
                             const PaddedGraph& padded) {
  std::vector<int64_t> sizes;
  for (const std::string& dimension : padded.dimensions) {
    const OpenAxis& axis = *std::ranges::find(open, dimension, &OpenAxis::dimension);
    sizes.push_back(graph.value(graph.inputs()[axis.input]).type.dims[axis.axis].Value());
  }
  return sizes;
}

std::string FormulaProblem(const PaddedGraph& padded, const std::vector<int64_t>& sizes) {
  for (const SizeParameter& parameter : padded.parameters) {
    for (size_t e = 0; e < parameter.formulas.size(); ++e) {
      const double value = parameter.value.GetDouble(static_cast<int64_t>(e));
      const auto found = static_cast<double>(parameter.formulas[e].At(sizes).value_or(-1));
      if (found != value)
        return fmt::format("{} is {}, its formula {} says {}", parameter.name, value,
                           parameter.formulas[e].Text(), found);
    }
  }
  for (const auto& axes : padded.outputs) {
    for (const PaddedAxis& axis : axes) {
      for (const PaddedExtent& part : axis) {
        if (!part.formula.empty() && part.formula.At(sizes) != part.exact)
          return fmt::format("an output's {} is not {}", part.exact, part.formula.Text());
      }
    }
  }
  return "";
}

std::vector<Array> PaddedInputs(const Graph& graph, std::span<const Array> exact,
                                const std::vector<SizeParameter>& parameters, uint64_t seed) {
  Random random(StreamSeed(seed, "garbage"));
  std::vector<Array> inputs;
  for (size_t i = 0; i < exact.size(); ++i) {
    const ValueType& type = graph.value(graph.inputs()[i]).type;
    inputs.push_back(Garbage(type.type, type.Shape(), random));
    CopyIntoPadded(exact[i], inputs.back());
  }
  for (const SizeParameter& parameter : parameters) inputs.push_back(parameter.value);
  return inputs;
}

std::vector<Array> Cropped(std::span<const Array> outputs, const PaddedGraph& padded) {
  std::vector<Array> exact;
  for (size_t i = 0; i < outputs.size(); ++i) exact.push_back(Crop(outputs[i], padded.outputs[i]));
  return exact;
}

// A run at one set of sizes on a padded graph, which may have been made for another set.
class Run {
 public:
  Run(const Graph& exact, const Graph& graph, const PaddedGraph& sizes, const PadCase& padded)
      : exact_(exact), graph_(graph), sizes_(sizes), case_(padded) {}

  CheckResult Check(std::string_view stage) {
    const std::vector<Array> inputs = InputsOf(exact_, case_.model.values, case_.seed);
    auto expected = RunReference(exact_, inputs);
    // Without results of the exact graph, padding cannot be checked.
    if (!expected) return {Outcome::kRejected, "exact: " + expected.error().message};
    OutputChecker checker(exact_, inputs, *std::move(expected));
    inputs_ = PaddedInputs(graph_, inputs, sizes_.parameters, case_.seed);
    const auto plain = RunReference(graph_, inputs_);
    if (!plain) return Wrong(stage, plain.error().Format());
    if (const std::string problem = checker.Check(Cropped(*plain, sizes_)); !problem.empty())
      return Wrong(stage, problem);
    if (!case_.code) return {};
    const auto compiled = RunCompiled(graph_, FusionMode::kFused, inputs_);
    if (!compiled && HasWrongIndices(compiled.error()))
      return {Outcome::kRejected, compiled.error().message};
    if (!compiled) return ResultOf("machine code", compiled.error());
    if (const std::string problem = checker.Check(Cropped(*compiled, sizes_)); !problem.empty())
      return Wrong("machine code", problem);
    return {};
  }
  const std::vector<Array>& inputs() const { return inputs_; }

 private:
  const Graph& exact_;
  const Graph& graph_;
  const PaddedGraph& sizes_;
  const PadCase& case_;
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
  const auto& [exact, bucket, other] = padded.model.graphs;
  const std::vector<OpenAxis> open = OpenAxes(padded.model);
  const Graph samples[] = {exact, other};
  const auto made = pads(exact, bucket, open, samples);
  if (!made) return {ResultOf("pad", made.error())};
  if (const std::string problem = FormProblem(*made, exact, bucket); !problem.empty())
    return {Wrong("form", problem)};
  if (const std::string problem = FormulaProblem(*made, SizesIn(exact, open, *made));
      !problem.empty())
    return {Wrong("formula", problem)};
  if (const std::string problem = TextProblem(made->graph); !problem.empty())
    return {Wrong("text", problem)};
  Run run(exact, made->graph, *made, padded);
  PadResult checked{run.Check("padded")};
  if (checked.result.outcome != Outcome::kEqual) return checked;
  if (const std::string problem =
          SeparableProblem(padded.model, open, *made, run.inputs(), padded.seed);
      !problem.empty())
    return {Wrong("separable", problem)};

  const auto beside = pads(other, bucket, open, samples);
  if (!beside) {
    const CheckResult rejected = ResultOf("other sizes", beside.error());
    if (rejected.outcome == Outcome::kWrong) return {rejected};
    return {{}, Texts::kRejected};
  }
  if (const std::string problem = FormProblem(*beside, other, bucket); !problem.empty())
    return {Wrong("form of other sizes", problem)};
  if (const std::string problem = FormulaProblem(*beside, SizesIn(other, open, *beside));
      !problem.empty())
    return {Wrong("formula of other sizes", problem)};
  const bool equal = Print(made->graph) == Print(beside->graph);
  const Graph& graph = equal ? made->graph : beside->graph;
  checked.result = Run(other, graph, *beside, padded).Check("other sizes");
  checked.texts = equal ? Texts::kEqual : Texts::kDiffer;
  return checked;
}

}  // namespace tunec::fuzz
