// The worker's side: requests in, events out.
#pragma once

#include <span>
#include <string_view>

#include "autotune/measure/measure.h"
#include "support/error.h"

namespace tunec {

/// The exit status of a worker that could not get memory outside of any candidate's reach.
inline constexpr int kOutOfMemoryExit = 77;

/// Serves requests from the socket until the other side closes it. Candidates of one request are
/// compiled on as many threads as the target has, then measured one after another, so that
/// neither disturbs the other. A message that is malformed, or asks for what cannot be, is answered
/// by a FailedEvent, and the next one is served. After a candidate at which the device failed the
/// worker ends, in the middle of the request: what it had on the device may be lost with it.
Status ServeRequests(int socket, const CandidateHook& hook = {});

/// A worker's whole work: serves the socket on standard input. `arguments` are the program's:
/// `--memory BYTES` limits the memory of this process, `--parent PID` makes it die with that one.
/// Ctrl-C is left to the tuner.
Status ServeTuner(std::span<const std::string_view> arguments, const CandidateHook& hook = {});

}  // namespace tunec
