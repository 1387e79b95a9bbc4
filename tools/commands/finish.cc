#include <CLI/CLI.hpp>
#include <chrono>

#include "tools/commands/commands.h"
#include "tools/terminal/interrupt.h"

namespace tunec {

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void RejectOptionsBefore(const CLI::App& command) {
  const CLI::App* root = &command;
  while (root->get_parent() != nullptr) root = root->get_parent();
  for (const CLI::Option* option : root->parse_order())
    throw CLI::ValidationError(
        fmt::format("{} is an option of tunec MODEL here, expected behind {}", option->get_name(),
                    command.get_name()));
}

void Finish(Invocation& invocation, const Result<int>& exit_code) {
  invocation.exit_code = exit_code ? *exit_code : ReportError(exit_code.error());
  // Code that ended early because of a signal returns kExitOk or kExitInterrupted. The exit code of
  // the signal replaces these codes.
  const bool ended_early =
      invocation.exit_code == kExitOk || invocation.exit_code == kExitInterrupted;
  if (Interrupted() && ended_early) invocation.exit_code = InterruptionExitCode();
}

}  // namespace tunec
