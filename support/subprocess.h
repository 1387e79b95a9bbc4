// A function that runs another program until its end.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/error.h"

namespace tunec {

/// The result of a program that ended within the time limit.
struct ProcessResult {
  /// The exit status. It may be unknown (empty) if the application that uses this library ignores
  /// SIGCHLD or waits for all children itself. Then the caller has to check the output.
  std::optional<int> exit_status;
  std::string output;  // standard output and standard error, in order of arrival
};

/// Runs the program at `path` without a shell and with empty standard input, and waits for it. The
/// first `most_output` bytes of its output are retained. The program is killed when the calling
/// thread ends. Errors: kNotFound if the program cannot be started, kResourceLimit beyond `limit`,
/// kInternal after a signal, kIo if no pipe, descriptor or process can be made.
Result<ProcessResult> RunProcess(const std::string& path, const std::vector<std::string>& arguments,
                                 std::chrono::milliseconds limit,
                                 size_t most_output = size_t{1} << 20);

}  // namespace tunec
