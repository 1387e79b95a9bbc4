// Functions for closed standard streams and for failed writes.
#pragma once

namespace tunec {

/// Opens closed standard streams with descriptors on which every transfer fails. Call this function
/// before any file is opened: otherwise an opened file, such as a database, may get the descriptor
/// of a closed stream.
void ReserveStandardStreams();

/// Ignores SIGXFSZ, so that a file beyond the size limit (`ulimit -f`) gives a write error.
void IgnoreFileSizeSignal();

/// Flushes standard output. Returns true if some output could not be written to it.
bool HasLostStandardOutput();

}  // namespace tunec
