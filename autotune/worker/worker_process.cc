#include "autotune/worker/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "autotune/worker/worker.h"
#include "db/tables/text.h"

namespace tunec {
namespace {

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
  std::array<int, 2> sockets = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return Fail(ErrorCode::kIo, "cannot make a socket pair: {}", std::strerror(errno));
  }
  Descriptor ours(sockets[0]);
  const Descriptor its(sockets[1]);
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Fail(ErrorCode::kIo, "cannot make a pipe: {}", std::strerror(errno));
  }
  Descriptor reading(ends[0]);
  const Descriptor writing(ends[1]);
  // Reads of error output never block. If the pipe is full, the worker waits.
  (void)fcntl(reading.get(), F_SETFL, O_NONBLOCK);
  TUNEC_ASSIGN(
      ChildProcess process,
      ChildProcess::Start({.path = path,
                           .arguments = {"--serve", "--memory", std::to_string(memory_bytes),
                                         "--parent", std::to_string(getpid())},
                           .input = its.get(),
                           .output = its.get(),
                           .errors = writing.get()}));
  return WorkerProcess(std::move(process), std::move(ours), std::move(reading));
}

Status WorkerProcess::Send(const Request& request) {
  return SendAll(socket_.get(), Frame(Encode(request)));
}

Result<std::optional<Event>> WorkerProcess::Receive(Time until, size_t longest) {
  std::string chunk(size_t{1} << 16, '\0');
  for (;;) {
    TUNEC_ASSIGN(const std::optional<std::string> text, reader_.Next(longest));
    if (text) {
      TUNEC_ASSIGN(Event event, DecodeEvent(*text));
      return std::optional(std::move(event));
    }
    pollfd watched[] = {{socket_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}};
    const int ready = poll(watched, std::size(watched), MillisecondsUntil(until));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Fail(ErrorCode::kIo, "cannot wait: {}", std::strerror(errno));
    if (ready > 0 && watched[1].revents != 0 && ReadErrors() == 0) (void)errors_.Close();
    // The time limit is also checked while error output arrives without a pause.
    const bool is_over = ready == 0 || MillisecondsUntil(until) == 0;
    if (watched[0].revents == 0 && is_over) return std::optional<Event>();
    if (watched[0].revents == 0) continue;
    const ssize_t got = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Fail(ErrorCode::kIo, "the worker has ended");
    reader_.Append(std::string_view(chunk).substr(0, static_cast<size_t>(got)));
  }
}

// Reads once from the pipe into last_errors_. Returns the number of bytes that were read: 0 at the
// pipe's end, negative if the pipe is empty or reading fails.
ssize_t WorkerProcess::ReadErrors() {
  constexpr size_t kMostBytes = 4096;
  std::string chunk(size_t{1} << 16, '\0');
  const ssize_t got = read(errors_.get(), chunk.data(), chunk.size());
  if (got <= 0) return got;
  last_errors_.append(chunk, 0, static_cast<size_t>(got));
  if (last_errors_.size() > kMostBytes) last_errors_.erase(0, last_errors_.size() - kMostBytes);
  return got;
}

std::string WorkerProcess::ReadLastErrors() {
  (void)ReadErrors();  // the process has ended: the rest of its output is in the pipe
  std::string text = std::move(last_errors_);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  const size_t line = text.rfind('\n');
  return MakeStorable(line == std::string::npos ? text : text.substr(line + 1));
}

WorkerProcess::Ending WorkerProcess::Stop() {
  constexpr std::chrono::seconds kLongestEnd{5};
  // An ending process closes the socket a moment before the exit status is available.
  pollfd watched{socket_.get(), POLLIN, 0};
  char byte = 0;
  const bool closed =
      poll(&watched, 1, 0) > 0 && recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  if (closed) (void)process_.WaitUntil(std::chrono::steady_clock::now() + kLongestEnd);
  const ChildEnd end = process_.Kill();
  Ending ending;
  if (!end.status) {
    ending.text = "unknown exit status";
  } else if (WIFSIGNALED(*end.status)) {
    const int signal = WTERMSIG(*end.status);
    ending.text = fmt::format("signal {} ({})", signal, strsignal(signal));
  } else {
    ending.out_of_memory = WEXITSTATUS(*end.status) == kOutOfMemoryExit;
    ending.text = fmt::format("exit status {}", WEXITSTATUS(*end.status));
  }
  if (const std::string words = ReadLastErrors(); !words.empty()) ending.text += ": " + words;
  return ending;
}

}  // namespace tunec
