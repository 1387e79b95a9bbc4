// The worker's part of the protocol. The worker receives requests of the tuner and sends events.
#pragma once

#include <span>
#include <string_view>

#include "autotune/measure/measure.h"
#include "support/error.h"

namespace tunec {

/// Exit status of a worker that ends because an allocation failed.
inline constexpr int kOutOfMemoryExit = 77;

/// Serves requests from the socket until the other side closes it. Candidates of one request are
/// compiled on as many threads as the target has. Then they are measured one after another, so that
/// compilation does not disturb measuring. A message that is malformed or invalid is answered by a
/// FailedEvent, and the next one is served. If the device fails at a candidate, the function
/// returns during the request, since data on the device may be lost. Errors: kIo if receiving
/// fails.
Status ServeRequests(int socket, const CandidateHook& hook = {});

/// Runs a worker on the socket at standard input. `arguments` are those of the program: `--memory
/// BYTES` limits the memory of this process, `--parent PID` ends the process when its parent ends.
/// The worker ignores Ctrl-C; the tuner handles it.
Status ServeTuner(std::span<const std::string_view> arguments, const CandidateHook& hook = {});

}  // namespace tunec
