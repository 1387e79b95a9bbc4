// Ctrl-C. The first asks the running work to end and to keep what it has; the second ends the
// process at once.
#pragma once

namespace tunec {

/// Begins to catch SIGINT. Process-wide, because a signal is.
void CatchInterrupts();
bool Interrupted();

}  // namespace tunec
