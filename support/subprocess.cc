#include "support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

extern char** environ;

namespace tunec {
namespace {

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// Starts it with its output in the pipe `output`.
Result<pid_t> Start(const std::string& path, const std::vector<std::string>& arguments,
                    int output) {
  std::vector<std::string> words = {path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  // A process group of its own, so that what it starts can be ended with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = -1;
  const int problem =
      posix_spawn(&process, path.c_str(), &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (problem == 0) return process;
  return Fail(ErrorCode::kNotFound, "cannot run '{}': {}", path, std::strerror(problem));
}

// Reads until the other side is closed; false when the time is over before.
bool ReadAll(int fd, Clock::time_point until, size_t most, std::string& into) {
  std::array<char, 4096> chunk;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() < 0) return false;
    pollfd watched{fd, POLLIN, 0};
    const int ready =
        poll(&watched, 1, static_cast<int>(std::min<int64_t>(left.count(), 1 << 30)) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) continue;
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    const size_t room = most - std::min(most, into.size());
    into.append(chunk.data(), std::min(room, static_cast<size_t>(got)));
  }
}

// How it ended, or none when it has not by then.
std::optional<int> StatusBefore(pid_t process, Clock::time_point until) {
  for (;;) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == process) return status;
    if (Clock::now() > until) return {};
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void Kill(pid_t process) {
  (void)kill(-process, SIGKILL);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<ProcessResult> RunProcess(const std::string& path, const std::vector<std::string>& arguments,
                                 std::chrono::milliseconds limit, size_t most_output) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return Fail(ErrorCode::kIo, "cannot make a pipe: {}", std::strerror(errno));
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  TUNEC_ASSIGN(const pid_t process, Start(path, arguments, writing.get()));
  writing.Close();
  const Clock::time_point until = Clock::now() + limit;
  ProcessResult result;
  std::optional<int> status;
  if (ReadAll(reading.get(), until, most_output, result.output)) {
    status = StatusBefore(process, until);
  }
  if (!status) {
    Kill(process);
    return Fail(ErrorCode::kResourceLimit, "'{}' took longer than {} ms", path, limit.count());
  }
  if (WIFSIGNALED(*status)) {
    const int signal = WTERMSIG(*status);
    return Fail(ErrorCode::kInternal, "'{}' ended by signal {} ({})", path, signal,
                strsignal(signal));
  }
  result.exit_status = WEXITSTATUS(*status);
  return result;
}

}  // namespace tunec
