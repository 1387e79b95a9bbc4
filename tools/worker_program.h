// The program tunec-worker as a function. It compiles and measures candidates for a tuner in a
// separate process, because a candidate may crash.
#pragma once

namespace tunec {

/// Runs the program. Returns the exit code.
int RunWorker(int argc, char** argv);

}  // namespace tunec
