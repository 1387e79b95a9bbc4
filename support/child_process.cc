#include "support/child_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include "support/start_child.h"

namespace tunec {
namespace {

constexpr auto kPidDescriptor = static_cast<idtype_t>(3);  // P_PIDFD, which older headers lack

// Returns the status in the encoding of waitpid.
int StatusOf(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return (info.si_status & 0xff) << 8;
  return info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0);
}

int MillisecondsUntil(ChildProcess::Time until) {
  const auto left = until - std::chrono::steady_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
  return static_cast<int>(std::clamp<int64_t>(ms, 0, 1 << 30));
}

}  // namespace

Result<ChildProcess> ChildProcess::Start(const ChildStart& start) {
  TUNEC_ASSIGN(StartedChild child, StartChild(start));
  return ChildProcess(child.process, std::move(child.watched), start.own_group);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      watched_(std::move(other.watched_)),
      own_group_(other.own_group_),
      end_(std::exchange(other.end_, std::nullopt)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(watched_, other.watched_);
  std::swap(own_group_, other.own_group_);
  std::swap(end_, other.end_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (process_ > 0) (void)Kill();
}

// Queries the state of the process by waitid. Requires: this object has not taken a status yet.
int ChildProcess::QueryState(siginfo_t& info, int flags) const {
  if (watched_.get() >= 0) {
    const int answer = waitid(kPidDescriptor, static_cast<id_t>(watched_.get()), &info, flags);
    if (answer == 0 || errno != EINVAL) return answer;  // EINVAL: Linux < 5.4
  }
  return waitid(P_PID, static_cast<id_t>(process_), &info, flags);
}

// Returns how the process ended, or nullopt while the process runs. The first call after the end
// takes the status from the system, if the system still has one.
std::optional<ChildEnd> ChildProcess::PollEnd() {
  if (end_) return end_;
  siginfo_t info = {};
  const int answer = QueryState(info, WEXITED | WNOHANG);
  if (answer == 0 && info.si_pid != 0) end_ = ChildEnd{StatusOf(info)};
  if (answer != 0 && errno == ECHILD) end_ = ChildEnd{std::nullopt};
  return end_;
}

std::optional<ChildEnd> ChildProcess::WaitUntil(Time until) {
  for (;;) {
    if (PollEnd()) return end_;
    if (std::chrono::steady_clock::now() > until) return {};
    pollfd watched{watched_.get(), POLLIN, 0};
    if (watched.fd < 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    } else {
      (void)poll(&watched, 1, MillisecondsUntil(until));
    }
  }
}

// Kills the process, or its own group, unless its status was taken. The numbers of the process and
// the group are reserved until then; afterwards other processes may get them.
void ChildProcess::SendKill() const {
  siginfo_t info = {};
  if (QueryState(info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
  if (own_group_) {
    (void)kill(-process_, SIGKILL);
  } else if (watched_.get() >= 0) {
    (void)syscall(SYS_pidfd_send_signal, watched_.get(), SIGKILL, nullptr, 0);
  } else {
    (void)kill(process_, SIGKILL);
  }
}

ChildEnd ChildProcess::Kill() {
  while (!end_) {
    SendKill();
    (void)WaitUntil(std::chrono::steady_clock::now() + std::chrono::seconds(1));
  }
  return *end_;
}

}  // namespace tunec
