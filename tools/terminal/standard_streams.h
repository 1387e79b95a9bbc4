// Standard output that is closed, full or gone.
#pragma once

namespace tunec {

/// Before anything is opened: gives closed standard streams a descriptor on which every transfer
/// fails. Otherwise the first file opened, a database say, would be standard output.
void ReserveStandardStreams();

/// Makes writing a file that grows beyond the limit (`ulimit -f`) an error instead of a death by
/// SIGXFSZ.
void IgnoreFileSizeSignal();

/// Whether something that was written to standard output did not arrive.
bool LostStandardOutput();

}  // namespace tunec
