// The handling of Ctrl-C, and of SIGTERM and SIGHUP, which other programs and a closed terminal
// send. After the first signal, Interrupted returns true, so that running work can end and store
// results. A second signal of the same kind ends the process immediately.
#pragma once

namespace tunec {

/// Begins to catch the signals, except SIGHUP if it is ignored, as under nohup. The effect is
/// process-wide, like signals.
void CatchInterrupts();
bool Interrupted();
/// Returns the exit code after a signal, 128 plus its number: 130 for Ctrl-C. Requires:
/// Interrupted.
int InterruptionExitCode();

}  // namespace tunec
