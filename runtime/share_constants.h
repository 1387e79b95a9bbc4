// Private to runtime/: which constants of a plan are the same as those of other plans.
#pragma once

#include <string>
#include <vector>

#include "runtime/executable_plan.h"
#include "runtime/shared_constants.h"

namespace tunec {

/// Of each constant what tells whether another one has the same bytes: of data a hash of it; of
/// what a prologue step makes, the step's identity and the keys of what it reads. Empty: it is not
/// shared, or no step names it. Reads all data whose hash the plan does not say.
std::vector<std::string> KeysOfConstants(const ExecutablePlan& plan);

/// Gives constants the data that others have of them, and drops the prologue steps that make
/// nothing else.
void TakeShared(const SharedConstants& shared, const std::vector<std::string>& keys,
                ExecutablePlan& plan);

/// Lets others find the data of constants that have a key. Requires: the prologue was run.
void GiveShared(const std::vector<std::string>& keys, const ExecutablePlan& plan,
                SharedConstants& shared);

}  // namespace tunec
