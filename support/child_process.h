// A program that this process started. The application that uses this library may ignore SIGCHLD,
// or may wait for all children itself. Then the system has no status of the started program, and
// may have given the program's process number to another process.
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

/// Options for starting a program.
struct ChildStart {
  std::string path;                    // not searched for in PATH
  std::vector<std::string> arguments;  // without the program's name
  int input = -1;                      // the program's standard input; negative: /dev/null
  int output = -1;                     // the program's standard output; negative: this process's
  int errors = -1;                     // the program's standard error; negative: this process's
  /// True: the program gets its own process group, which Kill ends together with the program.
  bool own_group = false;
  /// True: the program is killed when the thread that started it ends, in whatever way.
  bool ends_with_thread = false;
};

/// The way in which a program ended.
struct ChildEnd {
  /// The status as waitpid returns it. Empty if the application took the status or the system
  /// discarded it.
  std::optional<int> status;
};

/// A handle of a started program. Only one thread at a time may use an object.
class ChildProcess {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Starts a program. Errors: kNotFound if the program cannot be run, kIo if no process can be
  /// made or no descriptor can be copied.
  static Result<ChildProcess> Start(const ChildStart& start);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  /// Calls Kill if the object has a program.
  ~ChildProcess();

  /// Returns how the program ended, or nullopt if it still runs at time `until`.
  std::optional<ChildEnd> WaitUntil(Time until);
  /// Kills a program that still runs, and its own group if there is one. Waits for the end of the
  /// program, and returns how the program ended.
  ChildEnd Kill();

 private:
  ChildProcess(pid_t process, Descriptor watched, bool own_group)
      : process_(process), watched_(std::move(watched)), own_group_(own_group) {}
  int QueryState(siginfo_t& info, int flags) const;
  std::optional<ChildEnd> PollEnd();
  void SendKill() const;

  pid_t process_ = -1;
  Descriptor watched_;  // refers to the process, not to its number; empty on old systems
  bool own_group_ = false;
  std::optional<ChildEnd> end_;
};

}  // namespace tunec
