// The text of single steps, printed, parsed and described from their Fields.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "schedule/steps/compute_steps.h"
#include "schedule/steps/loop_steps.h"
#include "schedule/steps/words.h"
#include "support/error.h"

namespace tunec {

std::string Print(const ComputeStep& step);
std::string Print(const LoopStep& step);

using AnyStep = std::variant<ComputeStep, LoopStep>;

/// Takes all words of the line. kParse at the first that is wrong.
Result<AnyStep> ParseStep(Words& words);

/// `split LOOP FACTOR...`: how the manual heads each step, in its order.
std::vector<std::string> ComputeStepForms();
std::vector<std::string> LoopStepForms();

}  // namespace tunec
