#include "tools/runs/hard_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/reference.h"
#include "tools/runs/model_inputs.h"

namespace tunec {
namespace {

// Limit of the rounding errors of a compiled model, as a multiple of those of the reference.
constexpr double kOtherRoundings = 16;

bool IsInfinite(double x) { return !std::isnan(x) && !std::isfinite(x); }

// Returns the error of one element, given the reference with and without rounding. The error is
// infinite if only the element is finite, if only the element is not finite, or if an infinity has
// the wrong sign.
double ElementError(double actual, double rounded, double exact) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isfinite(rounded) && std::isfinite(exact))
    return std::isfinite(actual) ? std::abs(actual - exact) : kWrong;
  if (std::isfinite(actual)) {
    if (std::isfinite(exact)) return std::abs(actual - exact);
    return std::isfinite(rounded) ? std::abs(actual - rounded) : kWrong;
  }
  const bool other_sign = IsInfinite(actual) && IsInfinite(rounded) && actual != rounded;
  return other_sign ? kWrong : 0;
}

HardOutput CheckOutput(const std::string& name, const Array& actual, const Array& rounded,
                       const Array& exact, double tolerance) {
  HardOutput output{.error = {.name = name}};
  double noise = 0;
  for (int64_t i = 0; i < exact.size(); ++i) {
    const double in_double = exact.GetDouble(i);
    const double in_type = rounded.GetDouble(i);
    output.error.absolute =
        std::max(output.error.absolute, ElementError(actual.GetDouble(i), in_type, in_double));
    if (!std::isfinite(in_double) || !std::isfinite(in_type)) continue;
    output.error.magnitude = std::max(output.error.magnitude, std::abs(in_double));
    noise = std::max(noise, std::abs(in_double - in_type));
  }
  output.threshold = tolerance;
  if (output.error.magnitude > 0)
    output.threshold += kOtherRoundings * noise / output.error.magnitude;
  return output;
}

}  // namespace

Result<std::vector<HardOutput>> CheckHardOutputs(const Graph& graph, std::span<const Array> inputs,
                                                 std::span<const Array> outputs,
                                                 std::span<const Array> reference,
                                                 double tolerance) {
  const std::vector<TensorSpec> specs = OutputSpecs(graph);
  std::vector<HardOutput> checked;
  for (const OutputError& error : CompareOutputs(specs, outputs, reference))
    checked.push_back({.error = error, .threshold = tolerance});
  if (std::ranges::all_of(checked, &HardOutput::IsRight)) return checked;
  TUNEC_ASSIGN(const std::vector<Array> exact, RunReference(graph, inputs, Precision::kFloat64));
  for (size_t i = 0; i < checked.size(); ++i)
    checked[i] = CheckOutput(specs[i].name, outputs[i], reference[i], exact[i], tolerance);
  return checked;
}

}  // namespace tunec
