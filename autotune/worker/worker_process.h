// The tuner's handle on one worker process: started, written to, read from, killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "autotune/worker/protocol.h"
#include "support/error.h"

namespace tunec {

/// Owns the process: the destructor kills and reaps it. Used by one thread at a time.
class WorkerProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Starts `path` with its standard input and output on a socket and its standard error in a
  /// memory file. Errors: kNotFound, kIo.
  static Result<WorkerProcess> Start(const std::string& path, int64_t memory_bytes);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  Status Send(const Request& request);
  /// The next event, or none when `until` has passed. kIo when the process is gone or ends its
  /// side; kParse for nonsense and for frames over `longest` bytes.
  Result<std::optional<Event>> Receive(Time until, size_t longest = kLongestFrame);

  /// How a process ended.
  struct Ending {
    bool out_of_memory = false;
    std::string text;  // "signal 11 (Segmentation fault)" and the last line it wrote
  };
  /// Kills the process if it still runs, and says how it ended. Requires: once only.
  Ending Stop();

 private:
  WorkerProcess() = default;
  std::string LastWords() const;

  pid_t pid_ = -1;
  int socket_ = -1;
  int errors_ = -1;
  FrameReader reader_;
};

}  // namespace tunec
