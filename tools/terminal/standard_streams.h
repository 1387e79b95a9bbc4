// Handles standard streams that are closed, full or broken.
#pragma once

namespace tunec {

/// Opens closed standard streams with descriptors on which every transfer fails. Call this function
/// before any file is opened: otherwise the first opened file, such as a database, gets the
/// descriptor of standard output.
void ReserveStandardStreams();

/// Turns SIGXFSZ into a write error for files that exceed the limit (`ulimit -f`).
void IgnoreFileSizeSignal();

/// Returns true if some output was not written to standard output.
bool HasLostStandardOutput();

}  // namespace tunec
