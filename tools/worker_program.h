// The program tunec-worker as a function: it compiles and measures candidates for a tuner, in a
// process that may crash.
#pragma once

namespace tunec {

/// What main does; returns the exit code.
int RunWorker(int argc, char** argv);

}  // namespace tunec
