// How far arrays are from what they should be.
#pragma once

#include <string>

#include "ir/array.h"

namespace tunec {

/// Outputs of a float32 model may differ from a reference by this much of the largest magnitude.
inline constexpr double kOutputTolerance = 1e-4;

struct OutputError {
  std::string name;
  double absolute = 0;   // the greatest difference; infinite where only one is not a number
  double magnitude = 0;  // the greatest finite magnitude of the reference
  double Relative() const;
  bool IsWithin(double tolerance) const { return Relative() <= tolerance; }
};

/// Equal infinities and two NaN at the same place are no error. Requires: equal shapes.
OutputError CompareOutput(const std::string& name, const Array& actual, const Array& expected);

}  // namespace tunec
