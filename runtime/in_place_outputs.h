// Private to runtime/: detection of the caller's inputs that may share memory with an output. A run
// can then update such a buffer in place, for example a key-value cache.
#pragma once

#include <cstddef>
#include <set>
#include <utility>

#include "runtime/executable_plan.h"

namespace tunec {

/// Pairs of an input and an output of equal size that may be one buffer. No step reads the input
/// after the first step that names the output. This first step reads the input in place or not at
/// all. No index check reads the input.
class InPlaceOutputs {
 public:
  InPlaceOutputs() = default;
  /// Finds the pairs of a plan. Requires: Verify(plan), and `plan.steps` has not been moved.
  explicit InPlaceOutputs(const ExecutablePlan& plan);

  bool Allows(size_t input, size_t output) const { return pairs_.contains({input, output}); }

 private:
  std::set<std::pair<size_t, size_t>> pairs_;
};

}  // namespace tunec
