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

/// Parses a step from the remaining words of the line. Fails with kParse at the first wrong word.
/// If a word is missing, the error is at the end of the line.
Result<AnyStep> ParseStep(WordReader& words);

/// Return the manual's headings for all steps of a kind, such as `split LOOP FACTOR...`.
std::vector<std::string> ComputeStepForms();
std::vector<std::string> LoopStepForms();

}  // namespace tunec
