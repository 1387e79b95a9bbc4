#include "tools/compare_outputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/check.h"

namespace tunec {
namespace {

double Difference(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  const double difference = std::abs(actual - expected);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

/// A double holds 53 bits: integers that need more are compared as they are.
double ElementDifference(const Array& actual, const Array& expected, int64_t i) {
  if (!IsFloat(expected.type()) && actual.GetInt(i) == expected.GetInt(i)) return 0;
  return Difference(actual.GetDouble(i), expected.GetDouble(i));
}

}  // namespace

double OutputError::Relative() const {
  if (absolute == 0) return 0;
  return magnitude > 0 ? absolute / magnitude : std::numeric_limits<double>::infinity();
}

OutputError CompareOutput(const std::string& name, const Array& actual, const Array& expected) {
  TUNEC_CHECK(actual.shape() == expected.shape(), "output {}: the shapes differ", name);
  OutputError error{.name = name};
  for (int64_t i = 0; i < expected.size(); ++i) {
    error.absolute = std::max(error.absolute, ElementDifference(actual, expected, i));
    const double magnitude = std::abs(expected.GetDouble(i));
    if (std::isfinite(magnitude)) error.magnitude = std::max(error.magnitude, magnitude);
  }
  return error;
}

std::vector<OutputError> CompareOutputs(std::span<const TensorSpec> specs,
                                        std::span<const Array> actual,
                                        std::span<const Array> expected) {
  std::vector<OutputError> errors;
  for (size_t i = 0; i < specs.size(); ++i)
    errors.push_back(CompareOutput(specs[i].name, actual[i], expected[i]));
  return errors;
}

double GreatestRelative(std::span<const OutputError> errors) {
  double greatest = 0;
  for (const OutputError& error : errors) greatest = std::max(greatest, error.Relative());
  return greatest;
}

}  // namespace tunec
