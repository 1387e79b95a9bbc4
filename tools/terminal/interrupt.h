// The handling of Ctrl-C, and of SIGTERM and SIGHUP, which other programs and a closed terminal
// send. After the first signal, Interrupted returns true, so that running work can end and store
// results. A second signal of the same kind ends the process immediately.
#pragma once

namespace tunec {

/// Begins to catch the signals, except SIGHUP if it is ignored, as under nohup. The effect is
/// process-wide.
void CatchInterrupts();
bool Interrupted();
/// Returns the exit code after signals, 128 plus the number of the latest caught signal: 130 for
/// Ctrl-C. Requires: Interrupted.
int InterruptionExitCode();

}  // namespace tunec
