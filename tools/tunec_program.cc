// The command `tunec`. It parses the command line and runs `tunec MODEL` or the subcommand.
#include "tools/tunec_program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "ir/allocate_array.h"
#include "tools/commands/commands.h"
#include "tools/terminal/report_error.h"
#include "tools/terminal/standard_streams.h"
#include "tools/terminal/usage_error.h"

namespace tunec {
namespace {

/// Returns the words in reverse order, as CLI11 requires. If names directly follow `help`, "--"
/// precedes the names. Without "--", CLI11 would parse the names as commands.
std::vector<std::string> Words(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool explains = words.size() > 1 && words[0] == "help" && !words[1].starts_with('-');
  if (explains) words.insert(words.begin() + 1, "--");
  std::ranges::reverse(words);
  return words;
}

int ParseAndRun(CLI::App& root, const Invocation& invocation, int argc, char** argv) {
  try {
    root.parse(Words(argc, argv));
  } catch (const CLI::Success& success) {  // --help, --version
    return root.exit(success);
  } catch (const CLI::ParseError& error) {
    PrintToStandardError("error: " + ExplainParseError(root, error));
    return kExitUserMistake;
  }
  return invocation.exit_code;
}

int Main(int argc, char** argv) {
  Invocation invocation;
  invocation.started = SecondsNow();
  CLI::App root("Compiles a tensor program (.onnx, .graph) to native code, tunes and runs it.",
                "tunec");
  root.set_version_flag("--version", "tunec " TUNEC_VERSION);
  root.footer(
      "Exit codes: 0 success, 1 a failure of tunec or of a check, 2 a mistake in the input, "
      "130 Ctrl-C (143 SIGTERM, 129 SIGHUP).");
  AddCompileCommand(root, invocation);
  AddBuildCommand(root, invocation);
  AddRunCommand(root, invocation);
  AddBenchCommand(root, invocation);
  AddCompileProfileCommand(root, invocation);
  AddVerifyCommand(root, invocation);
  AddShowCommand(root, invocation);
  AddOptCommand(root, invocation);
  AddScheduleCommand(root, invocation);
  AddDbCommand(root, invocation);
  AddDoctorCommand(root, invocation);
  AddHelpCommand(root, invocation);
  return ParseAndRun(root, invocation, argc, argv);
}

/// Runs the command and catches each std::exception. Returns an exit code that does not count lost
/// standard output.
int GuardedMain(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const AllocationFailure& failure) {
    std::fprintf(stderr, "error: %s\n", failure.what());
  } catch (const std::bad_alloc&) {
    std::fputs("error: not enough memory\n", stderr);
  } catch (const std::exception& exception) {
    // fmt throws if it cannot write.
    if (HasLostStandardOutput()) return kExitOk;
    if (std::ferror(stderr) != 0) return kExitUserMistake;
    std::fprintf(stderr, "error: internal: %s\n", exception.what());
  }
  return kExitFailure;
}

}  // namespace

int RunTunec(int argc, char** argv) {
  ReserveStandardStreams();
  IgnoreFileSizeSignal();
  const int exit_code = GuardedMain(argc, argv);
  // If the report could not be written, for example to a full disk, the command has failed.
  if (exit_code != kExitOk || !HasLostStandardOutput()) return exit_code;
  std::fputs("error: cannot write to standard output\n", stderr);
  return kExitUserMistake;
}

}  // namespace tunec
