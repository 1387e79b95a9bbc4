// A failing candidate in one text file that is sufficient to reproduce the failure.
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

/// Prints a header, then the lowerings' computes and the schedule, each after a line with its
/// length.
std::string Print(const Case& failing);
/// Parses the text of Print. Returns kParse with a line of the file.
Result<Case> ParseCase(std::string_view text, std::string_view file_name);

/// Writes the case to `folder`/case-HASH.txt, making the folder, and returns that path.
Result<std::filesystem::path> WriteCase(const std::filesystem::path& folder, const Case& failing);

/// Measures the case in this process and describes the outcome for people.
Result<Measurement> RepeatCase(const Case& failing);

}  // namespace tunec
