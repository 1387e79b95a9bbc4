// The subcommands of tunec, each in a file of its own.
#pragma once

#include <CLI/App.hpp>
#include <memory>

#include "tools/terminal/report_error.h"

namespace tunec {

/// What the command line asked for, filled while it is parsed.
struct Invocation {
  int exit_code = kExitOk;
  double started = 0;  // when the process did, by SecondsNow
};
/// Of the steady clock.
double SecondsNow();

/// Each adds its options to `root`; when they are parsed, runs and sets the exit code.
/// `tunec MODEL` itself, where no subcommand is named.
void AddCompileCommand(CLI::App& root, Invocation& invocation);
void AddBuildCommand(CLI::App& root, Invocation& invocation);
void AddRunCommand(CLI::App& root, Invocation& invocation);
void AddBenchCommand(CLI::App& root, Invocation& invocation);
void AddVerifyCommand(CLI::App& root, Invocation& invocation);
void AddShowCommand(CLI::App& root, Invocation& invocation);
void AddOptCommand(CLI::App& root, Invocation& invocation);
void AddScheduleCommand(CLI::App& root, Invocation& invocation);
void AddDbCommand(CLI::App& root, Invocation& invocation);
void AddDoctorCommand(CLI::App& root, Invocation& invocation);
void AddHelpCommand(CLI::App& root, Invocation& invocation);

/// Sets the exit code from what a command returned, and reports its error.
void Finish(Invocation& invocation, const Result<int>& exit_code);

/// Throws CLI11's ValidationError where options stand before the name of a command of `tunec`: they
/// would be those of `tunec MODEL`, and have no effect.
void RefuseOptionsBefore(const CLI::App& command);

/// A subcommand whose `run(arguments)` returns Result<int>, the exit code. `arguments` lives as
/// long as the command.
template <class Arguments, class Run>
CLI::App& AddSubcommand(CLI::App& root, Invocation& invocation, const char* name,
                        const char* summary, const std::shared_ptr<Arguments>& arguments, Run run) {
  CLI::App* command = root.add_subcommand(name, summary);
  command->final_callback([&invocation, arguments, run, command] {
    RefuseOptionsBefore(*command);
    Finish(invocation, run(*arguments));
  });
  return *command;
}

}  // namespace tunec
