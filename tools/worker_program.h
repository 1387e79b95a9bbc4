// The program tunec-worker as a function. The program compiles and measures candidates in a
// separate process, because a candidate may crash.
#pragma once

namespace tunec {

/// Runs the program. Returns the exit code.
int RunWorker(int argc, char** argv);

}  // namespace tunec
