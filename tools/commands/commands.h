// Functions that add the commands of tunec. Each of these functions is in a separate file.
#pragma once

#include <CLI/App.hpp>
#include <memory>

#include "tools/terminal/report_error.h"

namespace tunec {

/// The state of one invocation of the command line.
struct Invocation {
  int exit_code = kExitOk;
  double started = 0;  // start of the process, by SecondsNow
};
/// Returns seconds of the steady clock.
double SecondsNow();

/// Each function adds a command to `root`. After parsing, the chosen command runs and sets the exit
/// code. AddCompileCommand adds `tunec MODEL`, which has no subcommand.
void AddCompileCommand(CLI::App& root, Invocation& invocation);
void AddBuildCommand(CLI::App& root, Invocation& invocation);
void AddRunCommand(CLI::App& root, Invocation& invocation);
void AddBenchCommand(CLI::App& root, Invocation& invocation);
void AddCompileProfileCommand(CLI::App& root, Invocation& invocation);
void AddVerifyCommand(CLI::App& root, Invocation& invocation);
void AddShowCommand(CLI::App& root, Invocation& invocation);
void AddOptCommand(CLI::App& root, Invocation& invocation);
void AddScheduleCommand(CLI::App& root, Invocation& invocation);
void AddDbCommand(CLI::App& root, Invocation& invocation);
void AddDoctorCommand(CLI::App& root, Invocation& invocation);
void AddHelpCommand(CLI::App& root, Invocation& invocation);

/// Sets the exit code from a command's result or a signal. Reports an error to standard error.
void Finish(Invocation& invocation, const Result<int>& exit_code);

/// Throws CLI11's ValidationError if options of `tunec MODEL` precede the name of a subcommand,
/// because such options would have no effect.
void RejectOptionsBefore(const CLI::App& command);

/// Adds a subcommand. `run(arguments)` returns Result<int>, the exit code. `arguments` exists as
/// long as the command.
template <class Arguments, class Run>
CLI::App& AddSubcommand(CLI::App& root, Invocation& invocation, const char* name,
                        const char* summary, const std::shared_ptr<Arguments>& arguments, Run run) {
  CLI::App* command = root.add_subcommand(name, summary);
  command->final_callback([&invocation, arguments, run, command] {
    RejectOptionsBefore(*command);
    Finish(invocation, run(*arguments));
  });
  return *command;
}

}  // namespace tunec
