// The tuner's handle on one worker process: started, written to, read from, killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "autotune/worker/protocol.h"
#include "support/child_process.h"
#include "support/descriptor.h"
#include "support/error.h"

namespace tunec {

/// Owns the process: the destructor kills and reaps it. Used by one thread at a time.
class WorkerProcess {
 public:
  using Time = ChildProcess::Time;

  /// Starts `path` with its standard input and output on a socket and its standard error on a pipe,
  /// of which the last bytes are kept. Errors: kNotFound, kIo.
  static Result<WorkerProcess> Start(const std::string& path, int64_t memory_bytes);

  Status Send(const Request& request);
  /// The next event, or none when `until` has passed. kIo when the process is gone or ends its
  /// side; kParse for nonsense and for frames over `longest` bytes.
  Result<std::optional<Event>> Receive(Time until, size_t longest = kLongestFrame);

  /// How a process ended.
  struct Ending {
    bool out_of_memory = false;
    std::string text;  // "signal 11 (Segmentation fault)" and the last line it wrote
  };
  /// Kills the process if it still runs, and says how it ended. One that has closed its socket
  /// gets some seconds to end by itself. Requires: once only.
  Ending Stop();

 private:
  WorkerProcess(ChildProcess process, Descriptor socket, Descriptor errors)
      : process_(std::move(process)), socket_(std::move(socket)), errors_(std::move(errors)) {}
  ssize_t ReadErrors();
  std::string LastWords();

  ChildProcess process_;
  Descriptor socket_;
  Descriptor errors_;
  std::string last_errors_;  // the latest bytes of the standard error
  FrameReader reader_;
};

}  // namespace tunec
