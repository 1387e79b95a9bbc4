// Ctrl-C, and SIGTERM and SIGHUP, by which other programs and a closed terminal end a process. The
// first asks the running work to end and to keep what it has; a second of its kind ends the process
// at once.
#pragma once

namespace tunec {

/// Begins to catch the signals; SIGHUP not where it is ignored, as under nohup. Process-wide,
/// because a signal is.
void CatchInterrupts();
bool Interrupted();
/// The exit code of what a signal ended, 128 and its number: 130 for Ctrl-C. Requires: Interrupted.
int InterruptionExitCode();

}  // namespace tunec
