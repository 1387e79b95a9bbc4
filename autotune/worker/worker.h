// The worker's part of the protocol. The worker receives requests of the tuner and sends events.
#pragma once

#include <span>
#include <string_view>

#include "autotune/measure/measure.h"
#include "support/error.h"

namespace tunec {

/// Exit status of a worker that ends because `new` ran out of memory.
inline constexpr int kOutOfMemoryExit = 77;

/// Serves requests from the socket until the other side closes it. Compiles the candidates of a
/// request on at most as many threads as the target has. Runs candidates only afterwards, so that
/// compilation does not disturb measuring. A message that is malformed or invalid is answered by a
/// FailedEvent, and the next one is served. If the device fails at a candidate, the function
/// returns without a DoneEvent, since data on the device may be lost. Errors: kIo if receiving
/// fails.
Status ServeRequests(int socket, const CandidateHook& hook = {});

/// Runs a worker on the socket at standard input. `arguments` are those of the program: `--memory
/// BYTES` limits the memory of this process, `--parent PID` ends the process when its parent ends.
/// Ignores SIGINT, SIGTERM and SIGHUP, which the tuner handles. Errors: those of ServeRequests.
Status ServeTuner(std::span<const std::string_view> arguments, const CandidateHook& hook = {});

}  // namespace tunec
