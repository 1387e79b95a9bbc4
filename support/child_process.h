// A program that this process started. The host of this library may ignore SIGCHLD, or may wait for
// all children itself. Then the system has no status of this program, and may have given its number
// to another process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "support/descriptor.h"
#include "support/error.h"

namespace tunec {

/// Says how a program is started.
struct ChildStart {
  std::string path;                    // not looked for in PATH
  std::vector<std::string> arguments;  // behind the program's name
  int input = -1;                      // its standard input; negative: none
  int output = -1;                     // its standard output; negative: this process's
  int errors = -1;                     // its standard error; negative: this process's
  /// Makes a process group of the program and its children. Kill ends the whole group.
  bool own_group = false;
  /// Kills the program when the thread that started it ends, in whatever way.
  bool ends_with_thread = false;
};

/// Says how a program ended.
struct ChildEnd {
  /// The status as waitpid returns it. None: the host took the status, or the system lost it.
  std::optional<int> status;
};

/// Used by one thread at a time.
class ChildProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Errors: kNotFound for what cannot be run, kIo.
  static Result<ChildProcess> Start(const ChildStart& start);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  /// Kills a program that still runs.
  ~ChildProcess();

  /// Returns how the program ended, or none when it still runs at that time.
  std::optional<ChildEnd> WaitUntil(Time until);
  /// Kills a program that still runs, and its own group if there is one. Returns how the program
  /// ended. No other process gets a signal.
  ChildEnd Kill();

 private:
  ChildProcess(pid_t process, Descriptor watched, bool own_group)
      : process_(process), watched_(std::move(watched)), own_group_(own_group) {}
  int Ask(siginfo_t& info, int flags) const;
  std::optional<ChildEnd> Look();
  void SendKill() const;

  pid_t process_ = -1;
  Descriptor watched_;  // refers to the process itself, not to its number; none on old systems
  bool own_group_ = false;
  std::optional<ChildEnd> end_;
};

}  // namespace tunec
