// Other programs, run to their end.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "support/error.h"

namespace tunec {

/// What a program left when it ended by itself.
struct ProcessResult {
  int exit_status = 0;
  std::string output;  // standard output and standard error, as they came
};

/// Runs the program at `path`, without a shell, standard input being empty, and waits for it. Of
/// its output the first `most_output` bytes are kept. Errors: kNotFound when it cannot be started,
/// kResourceLimit when it takes longer than `limit` (it is killed then), kInternal when a signal
/// ended it.
Result<ProcessResult> RunProcess(const std::string& path, const std::vector<std::string>& arguments,
                                 std::chrono::milliseconds limit,
                                 size_t most_output = size_t{1} << 20);

}  // namespace tunec
