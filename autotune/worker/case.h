// Text files of failing candidates, called cases. One file suffices to reproduce the failure.
#pragma once

#include <filesystem>
#include <string>

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

struct Case {
  Workload workload;
  CandidateRequest candidate;
  std::string note;  // reason of the failure, one line
};

/// Returns the text of a case: a header, then the lowerings' computes and the schedule. Each of
/// these texts follows a line with its length.
std::string Print(const Case& failing);
/// Parses the text of Print and verifies the workload. Fails with kParse and a line number for
/// another form, and with the errors of ParseAccuracy, ParseCompute and Verify.
Result<Case> ParseCase(std::string_view text, std::string_view file_name);

/// Writes the case to `folder`/case-HASH.txt, and returns that path. Makes the folder if it does
/// not exist. Errors: kIo.
Result<std::filesystem::path> WriteCase(const std::filesystem::path& folder, const Case& failing);

/// Measures the case in this process, which ends if the candidate crashes. Errors: those of
/// CheckRunsHere and of Workbench::Make.
Result<Measurement> RepeatCase(const Case& failing);

}  // namespace tunec
