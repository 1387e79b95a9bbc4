// Other programs, run to their end.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/error.h"

namespace tunec {

/// What a program left when it ended by itself.
struct ProcessResult {
  /// None: the host of this library ignores SIGCHLD or waits for all children itself. Then the
  /// caller has to check the output.
  std::optional<int> exit_status;
  std::string output;  // standard output and standard error, as they came
};

/// Runs the program at `path`, without a shell, standard input being empty, and waits for it. Of
/// its output the first `most_output` bytes are kept. The program is killed when the calling thread
/// ends. Errors: kNotFound for a program that cannot be started, kResourceLimit after `limit`,
/// kInternal after a signal.
Result<ProcessResult> RunProcess(const std::string& path, const std::vector<std::string>& arguments,
                                 std::chrono::milliseconds limit,
                                 size_t most_output = size_t{1} << 20);

}  // namespace tunec
