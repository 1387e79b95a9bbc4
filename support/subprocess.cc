#include "support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "support/child_process.h"
#include "support/descriptor.h"

namespace tunec {
namespace {

using Clock = std::chrono::steady_clock;

// Reads `fd` until its end or an error. Appends the bytes to `into`, up to `most` bytes in total,
// and drops all further bytes. Returns false if time `until` comes first.
bool ReadAll(int fd, Clock::time_point until, size_t most, std::string& into) {
  std::array<char, 4096> chunk;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() < 0) return false;
    pollfd watched{fd, POLLIN, 0};
    const int ready =
        poll(&watched, 1, static_cast<int>(std::min<int64_t>(left.count(), 1 << 30)) + 1);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    const size_t room = most - std::min(most, into.size());
    into.append(chunk.data(), std::min(room, static_cast<size_t>(got)));
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
  TUNEC_ASSIGN(ChildProcess process, ChildProcess::Start({.path = path,
                                                          .arguments = arguments,
                                                          .output = writing.get(),
                                                          .errors = writing.get(),
                                                          .own_group = true,
                                                          .ends_with_thread = true}));
  (void)writing.Close();
  const Clock::time_point until = Clock::now() + limit;
  ProcessResult result;
  std::optional<ChildEnd> end;
  if (ReadAll(reading.get(), until, most_output, result.output)) end = process.WaitUntil(until);
  if (!end)
    return Fail(ErrorCode::kResourceLimit, "'{}' took longer than {} ms", path, limit.count());
  if (!end->status) return result;
  if (WIFSIGNALED(*end->status)) {
    const int signal = WTERMSIG(*end->status);
    return Fail(ErrorCode::kInternal, "'{}' ended by signal {} ({})", path, signal,
                strsignal(signal));
  }
  result.exit_status = WEXITSTATUS(*end->status);
  return result;
}

}  // namespace tunec
