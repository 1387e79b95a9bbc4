#include "graph/compare_arrays.h"

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

/// Returns the difference of one element. Integers beyond 2^53 are rounded to double, so different
/// ones may have the difference 0.
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

}  // namespace tunec
