// How the command ends: messages on stderr, exit codes.
#pragma once

#include <string>

#include "support/error.h"

namespace tunec {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;      // of ours, or a check that did not hold
inline constexpr int kExitUserMistake = 2;  // a wrong option, file, database, machine
inline constexpr int kExitInterrupted = 130;

int ExitCodeOf(ErrorCode code);

/// A line that is lost where standard error is closed: that changes nothing else.
void PrintToStandardError(const std::string& line);

/// Prints `error: ...`, with the offending line where the error points into a text file, and
/// returns the exit code.
int ReportError(const Error& error);

}  // namespace tunec
