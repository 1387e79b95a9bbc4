// Private to runtime/: which of the caller's inputs may be the memory of an output, so that a cache
// is updated where it lies.
#pragma once

#include <cstddef>
#include <set>
#include <utility>

#include "runtime/executable_plan.h"

namespace tunec {

/// Pairs of an input and an output of as many bytes that may be one buffer: nothing reads the input
/// after the step that writes the output first, and that step reads it in place, or not at all.
class InPlaceOutputs {
 public:
  InPlaceOutputs() = default;
  /// Of a plan that is right (Verify) and has all its steps.
  explicit InPlaceOutputs(const ExecutablePlan& plan);

  bool Allows(size_t input, size_t output) const { return pairs_.contains({input, output}); }

 private:
  std::set<std::pair<size_t, size_t>> pairs_;
};

}  // namespace tunec
