// The text of single steps. Fields defines how they are printed, parsed and described.
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

/// Parses all words of the line. Fails with kParse at the first wrong word.
Result<AnyStep> ParseStep(WordReader& words);

/// Return the headings of all steps of a kind in the manual's order: `split LOOP FACTOR...`.
std::vector<std::string> ComputeStepForms();
std::vector<std::string> LoopStepForms();

}  // namespace tunec
