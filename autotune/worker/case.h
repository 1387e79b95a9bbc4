// A failing candidate as one text file that holds all that is needed to see it fail again.
#pragma once

#include <filesystem>
#include <string>

#include "autotune/measure/measurement.h"
#include "support/error.h"

namespace tunec {

struct Case {
  Workload workload;
  CandidateRequest candidate;
  std::string note;  // one line: how it failed
};

/// A header, then the lowerings' computes and the schedule, each after a line with its length.
std::string Print(const Case& failing);
/// The inverse. kParse at a line of the file.
Result<Case> ParseCase(std::string_view text, std::string_view file_name);

/// Writes the case to `folder`/case-HASH.txt, making the folder, and returns that path.
Result<std::filesystem::path> WriteCase(const std::filesystem::path& folder, const Case& failing);

/// Measures the case in this process and describes the outcome for people.
Result<Measurement> RepeatCase(const Case& failing);

}  // namespace tunec
