// Cases: failing candidates with their workloads. The text file of a case serves to measure the
// candidate again.
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

/// Returns the text of a case: a header, then the lowerings' computes and the schedule, each after
/// a line with a title and the number of bytes. Workload::device is omitted.
std::string Print(const Case& failing);
/// Parses the text of Print and verifies the workload. Fails with kParse for malformed text, and
/// with the errors of DecodeTarget, ParseAccuracy, ParseCompute and Verify.
Result<Case> ParseCase(std::string_view text, std::string_view file_name);

/// Writes the case to `folder`/case-HASH.txt, and returns that path. Makes the folder if it does
/// not exist. Errors: kIo.
Result<std::filesystem::path> WriteCase(const std::filesystem::path& folder, const Case& failing);

/// Measures the candidate in this process, without an incumbent. A candidate that crashes on the
/// host ends the process. Errors: those of CheckRunsHere and of Workbench::Make.
Result<Measurement> RepeatCase(const Case& failing);

}  // namespace tunec
