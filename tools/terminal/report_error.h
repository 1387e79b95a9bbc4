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

/// Prints a line. Does nothing if standard error is closed.
void PrintToStandardError(const std::string& line);

/// Prints `note: LINE`.
void PrintNote(const std::string& line);

/// Prints `error: ...`, with the offending line if the error has a place in a text file. Returns
/// the exit code.
int ReportError(const Error& error);

}  // namespace tunec
