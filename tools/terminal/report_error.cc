#include "tools/terminal/report_error.h"

#include <cstdio>

#include "support/file.h"
#include "support/source.h"
#include "tools/terminal/visible_text.h"

namespace tunec {

int ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kParse:
    case ErrorCode::kUnsupported:
    case ErrorCode::kNotFound:
    case ErrorCode::kIo:
      return kExitUserMistake;
    case ErrorCode::kCancelled:
      return kExitInterrupted;
    case ErrorCode::kDevice:
    case ErrorCode::kIllegalSchedule:
    case ErrorCode::kResourceLimit:
    case ErrorCode::kWrongResult:
    case ErrorCode::kInternal:
      break;
  }
  return kExitFailure;
}

void PrintToStandardError(const std::string& line) {
  // fputs does not throw. A failure to write here cannot be reported.
  (void)std::fputs((VisibleText(line) + "\n").c_str(), stderr);
}

void PrintNote(const std::string& line) { PrintToStandardError("note: " + line); }

int ReportError(const Error& error) {
  std::string text = error.Format();
  if (error.where && error.where->line > 0) {
    if (const auto source = ReadFile(error.where->file)) text = FormatWithSource(error, *source);
  }
  PrintToStandardError(text);
  return ExitCodeOf(error.code);
}

}  // namespace tunec
