// Exit codes, and functions that print messages on standard error.
#pragma once

#include <string>

#include "support/error.h"

namespace tunec {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;      // an internal error, or a failed check
inline constexpr int kExitUserMistake = 2;  // a wrong option, file, database or machine
inline constexpr int kExitInterrupted = 130;

int ExitCodeOf(ErrorCode code);

/// Prints the VisibleText of a line. Ignores failures to write.
void PrintToStandardError(const std::string& line);

/// Prints `note: LINE`.
void PrintNote(const std::string& line);

/// Prints the error, with the line at the error's location if a readable file has this line.
/// Returns the exit code.
int ReportError(const Error& error);

}  // namespace tunec
