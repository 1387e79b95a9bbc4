// The worker's side: requests in, events out.
#pragma once

#include <cstdint>

#include "support/error.h"

namespace tunec {

/// The exit status of a worker that could not get memory outside of any candidate's reach.
inline constexpr int kOutOfMemoryExit = 77;

/// Limits this process's own memory (0: not at all), asks to die with the process that started
/// it (0: not asked) and leaves Ctrl-C to that.
void ConfineWorker(int64_t memory_bytes, int64_t parent);

/// Serves requests from the socket until the other side closes it. Candidates of one request are
/// compiled on as many threads as the target has, then measured one after another, so that
/// neither disturbs the other. A message that is malformed, or asks for what cannot be, is answered
/// by a FailedEvent, and the next one is served.
Status ServeRequests(int socket);

}  // namespace tunec
