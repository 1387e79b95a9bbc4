// A function that computes the greatest difference between an array and its expected values.
#pragma once

#include <string>

#include "ir/array.h"

namespace tunec {

/// Tolerance for outputs of float32 models, relative to the greatest magnitude of the reference.
inline constexpr double kOutputTolerance = 1e-4;

struct OutputError {
  std::string name;
  double absolute = 0;   // greatest difference; infinite if only one is NaN or infinite
  double magnitude = 0;  // the greatest finite magnitude of the reference
  double Relative() const;
  bool IsWithin(double tolerance) const { return Relative() <= tolerance; }
};

/// Returns the greatest difference between an output and the reference. Equal infinities and two
/// NaN at the same index count as equal. Requires: equal shapes.
OutputError CompareOutput(const std::string& name, const Array& actual, const Array& expected);

}  // namespace tunec
