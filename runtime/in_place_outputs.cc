#include "runtime/in_place_outputs.h"

#include <algorithm>

namespace tunec {
namespace {

using Kind = ValueRef::Kind;

bool Names(const ValueRef& ref, Kind kind, size_t index) {
  return ref.kind == kind && ref.index == static_cast<int32_t>(index);
}

bool Names(const Step& step, Kind kind, size_t index) {
  return std::ranges::any_of(step.arguments,
                             [&](const ValueRef& ref) { return Names(ref, kind, index); });
}

// Returns true if the step may read the input and write the output in the same memory. Each
// argument that refers to the input must be the whole input. Step::in_place must pair this argument
// with an argument that is the whole output. Returns true also if the step does not name the input.
bool ReadsInPlace(const Step& step, size_t input, size_t output) {
  const ValueRef source = ValueRef::Input(static_cast<int32_t>(input));
  const ValueRef target = ValueRef::Output(static_cast<int32_t>(output));
  for (size_t a = 0; a < step.arguments.size(); ++a) {
    if (!Names(step.arguments[a], Kind::kInput, input)) continue;
    const bool in_place = std::ranges::any_of(step.in_place, [&](const auto& pair) {
      return pair.first == static_cast<int32_t>(a) && step.arguments[pair.second] == target;
    });
    if (step.arguments[a] != source || !in_place) return false;
  }
  return true;
}

bool IsChecked(const ExecutablePlan& plan, size_t input) {
  return std::ranges::any_of(plan.index_checks, [&](const IndexCheck& check) {
    return Names(check.indices, Kind::kInput, input);
  });
}

bool IsAllowed(const ExecutablePlan& plan, size_t input, size_t output) {
  const auto bytes = [](const TensorSpec& spec) { return ByteSize(spec).value_or(-1); };
  if (bytes(plan.inputs[input]) != bytes(plan.outputs[output])) return false;
  const auto writer = std::ranges::find_if(
      plan.steps, [&](const Step& step) { return Names(step, Kind::kOutput, output); });
  if (writer == plan.steps.end() || IsChecked(plan, input)) return false;
  const auto reads = [&](const Step& step) { return Names(step, Kind::kInput, input); };
  if (std::any_of(writer + 1, plan.steps.end(), reads)) return false;
  return ReadsInPlace(*writer, input, output);
}

}  // namespace

InPlaceOutputs::InPlaceOutputs(const ExecutablePlan& plan) {
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    for (size_t o = 0; o < plan.outputs.size(); ++o)
      if (IsAllowed(plan, i, o)) pairs_.emplace(i, o);
}

}  // namespace tunec
