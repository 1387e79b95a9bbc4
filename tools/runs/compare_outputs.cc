#include "tools/runs/compare_outputs.h"

#include <algorithm>

namespace tunec {

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
