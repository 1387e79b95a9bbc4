// A handle with which the tuner starts a worker process, exchanges messages with it and stops it.
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

/// An owner of a worker process, which the destructor kills and reaps. Not thread-safe.
class WorkerProcess {
 public:
  using Time = ChildProcess::Time;

  /// Starts `path` with its standard input and output on a socket. Standard error is a pipe, whose
  /// last bytes are stored. The program limits its own memory to `memory_bytes`; 0 is no limit.
  /// Errors: kNotFound, kIo.
  static Result<WorkerProcess> Start(const std::string& path, int64_t memory_bytes);

  Status Send(const Request& request);
  /// Returns the next event, or none if the time `until` passes first. Errors: kIo if receiving
  /// fails, as after the process's end; kParse for frames over `longest` bytes; those of
  /// DecodeEvent.
  Result<std::optional<Event>> Receive(Time until, size_t longest = kLongestFrame);

  /// The way in which a process ended.
  struct Ending {
    bool out_of_memory = false;
    std::string text;  // "signal 11 (Segmentation fault)" and the last line of standard error
  };
  /// Kills the process if it still runs, and returns how it ended. If the socket is read
  /// to its end, the process first has 5 seconds to end by itself. Requires: called only once.
  Ending Stop();

 private:
  WorkerProcess(ChildProcess process, Descriptor socket, Descriptor errors)
      : process_(std::move(process)), socket_(std::move(socket)), errors_(std::move(errors)) {}
  ssize_t ReadErrors();
  std::string ReadLastErrors();

  ChildProcess process_;
  Descriptor socket_;
  Descriptor errors_;
  std::string last_errors_;  // last bytes of standard error
  FrameReader reader_;
};

}  // namespace tunec
