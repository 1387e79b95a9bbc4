#include "autotune/worker/worker_process.h"

#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "autotune/worker/worker.h"
#include "db/tables/text.h"

extern char** environ;

namespace tunec {
namespace {

void Close(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// posix_spawn's list of what to do between fork and exec.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void Duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

int MillisecondsUntil(WorkerProcess::Time until) {
  const auto left = until - std::chrono::steady_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
  return static_cast<int>(std::clamp<int64_t>(ms, 0, 1 << 30));
}

}  // namespace

Result<WorkerProcess> WorkerProcess::Start(const std::string& path, int64_t memory_bytes) {
  if (access(path.c_str(), X_OK) != 0) {
    return Fail(ErrorCode::kNotFound, "cannot run the worker '{}': {}", path, std::strerror(errno));
  }
  int sockets[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Fail(ErrorCode::kIo, "cannot make a socket pair: {}", std::strerror(errno));
  }
  WorkerProcess process;
  process.socket_ = sockets[0];
  process.errors_ = memfd_create("tunec-worker-errors", MFD_CLOEXEC);
  FileActions actions;
  actions.Duplicate(sockets[1], STDIN_FILENO);
  actions.Duplicate(sockets[1], STDOUT_FILENO);
  if (process.errors_ >= 0) actions.Duplicate(process.errors_, STDERR_FILENO);
  std::vector<std::string> words = {path,       "--serve",
                                    "--memory", std::to_string(memory_bytes),
                                    "--parent", std::to_string(getpid())};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int problem =
      posix_spawn(&process.pid_, path.c_str(), actions.get(), nullptr, arguments.data(), environ);
  Close(sockets[1]);
  if (problem != 0) {
    process.pid_ = -1;
    return Fail(ErrorCode::kIo, "cannot start the worker '{}': {}", path, std::strerror(problem));
  }
  return process;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      reader_(std::move(other.reader_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(socket_, other.socket_);
  std::swap(errors_, other.errors_);
  std::swap(reader_, other.reader_);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) (void)Stop();
  Close(socket_);
  Close(errors_);
}

Status WorkerProcess::Send(const Request& request) {
  return SendAll(socket_, Frame(Encode(request)));
}

Result<std::optional<Event>> WorkerProcess::Receive(Time until, size_t longest) {
  std::string chunk(size_t{1} << 16, '\0');
  for (;;) {
    TUNEC_ASSIGN(const std::optional<std::string> text, reader_.Next(longest));
    if (text) {
      TUNEC_ASSIGN(Event event, DecodeEvent(*text));
      return std::optional(std::move(event));
    }
    pollfd watched{socket_, POLLIN, 0};
    const int ready = poll(&watched, 1, MillisecondsUntil(until));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Fail(ErrorCode::kIo, "cannot wait: {}", std::strerror(errno));
    if (ready == 0) return std::optional<Event>();
    const ssize_t got = recv(socket_, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Fail(ErrorCode::kIo, "the worker is gone");
    reader_.Append(std::string_view(chunk).substr(0, static_cast<size_t>(got)));
  }
}

std::string WorkerProcess::LastWords() const {
  constexpr off_t kMost = 4096;
  const off_t size = errors_ >= 0 ? lseek(errors_, 0, SEEK_END) : 0;
  if (size <= 0) return {};
  std::string text(static_cast<size_t>(std::min(size, kMost)), '\0');
  const ssize_t got = pread(errors_, text.data(), text.size(), std::max<off_t>(size - kMost, 0));
  if (got <= 0) return {};
  text.resize(static_cast<size_t>(got));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  const size_t line = text.rfind('\n');
  return MakeStorable(line == std::string::npos ? text : text.substr(line + 1));
}

WorkerProcess::Ending WorkerProcess::Stop() {
  int status = 0;
  // One that has ended by itself keeps its own status; the signal meets a zombie.
  const bool ended = waitpid(pid_, &status, WNOHANG) == pid_;
  if (!ended) {
    // The socket's end is seen a moment before the process can be waited for.
    const pollfd gone{socket_, POLLIN, 0};
    pollfd watched = gone;
    char byte = 0;
    const bool closed = poll(&watched, 1, 0) > 0 && recv(socket_, &byte, 1, MSG_PEEK) == 0;
    if (!closed) (void)kill(pid_, SIGKILL);
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  Ending ending;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    ending.text = fmt::format("signal {} ({})", signal, strsignal(signal));
  } else {
    ending.out_of_memory = WEXITSTATUS(status) == kOutOfMemoryExit;
    ending.text = fmt::format("exit status {}", WEXITSTATUS(status));
  }
  if (const std::string words = LastWords(); !words.empty()) ending.text += ": " + words;
  return ending;
}

}  // namespace tunec
