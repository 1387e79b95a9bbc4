#include <chrono>

#include "tools/commands/commands.h"
#include "tools/interrupt.h"

namespace tunec {

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Finish(Invocation& invocation, const Result<int>& exit_code) {
  invocation.exit_code = exit_code ? *exit_code : ReportError(exit_code.error());
  // What a signal cut short looks like success to the code that ended early.
  const bool ended_early =
      invocation.exit_code == kExitOk || invocation.exit_code == kExitInterrupted;
  if (Interrupted() && ended_early) invocation.exit_code = InterruptionExitCode();
}

}  // namespace tunec
