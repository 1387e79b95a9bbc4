// Private to runtime/: detection and reuse of constants that are equal in several plans.
#pragma once

#include <string>
#include <vector>

#include "runtime/executable_plan.h"
#include "runtime/shared_constants.h"

namespace tunec {

/// Returns which of the constants a step names.
std::vector<bool> NamedBySteps(const std::vector<Step>& steps, size_t constants);

/// Returns a key per constant; equal keys mean equal bytes. The key of a constant with data is its
/// size with its `content`, or with a hash of the data. The key of a preprocessing step's result
/// depends on the step's identity and on the keys of the constants that the step reads. Empty: the
/// constant is not shared, or no step names it.
std::vector<std::string> KeysOfConstants(const ExecutablePlan& plan);

/// Sets the data of constants that `shared` has with the required alignment. Removes preprocessing
/// steps that are then unnecessary. A constant that a remaining step makes has no data afterwards.
void ReuseSharedConstants(const SharedConstants& shared, const std::vector<std::string>& keys,
                          ExecutablePlan& plan);

/// Adds the data of constants with a key to `shared`. Requires: the preprocessing was run.
void AddSharedConstants(const std::vector<std::string>& keys, const ExecutablePlan& plan,
                        SharedConstants& shared);

}  // namespace tunec
