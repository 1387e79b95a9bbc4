#include "support/start_child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

extern char** environ;

// Marks functions that run in the child. The child shares the memory of its parent, whose calling
// thread is suspended meanwhile. So code of sanitizers must not run in the child.
#define TUNEC_IN_CHILD [[gnu::no_sanitize("address", "thread", "undefined")]]

namespace tunec {
namespace {

// Data that the parent passes to the child. The child writes `problem`.
struct ChildSetup {
  char* const* words;
  std::array<int, 3> streams;  // negative: the parent's stream
  bool own_group;
  bool ends_with_thread;
  pid_t parent;
  sigset_t signals = {};  // signals that the program blocks
  int problem = 0;        // errno of the failed call; 0: success
};

// The kernel's layout of a signal action (x86-64). libc's sigaction is not used, because it may
// change state that child and parent share.
struct SystemAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};

// Resets handlers, so that no handler of the parent runs in the child. The child ignores the same
// signals as the parent, except SIGCHLD. A program that ignores SIGCHLD gets no status of child
// processes.
TUNEC_IN_CHILD void ForgetHandlers() {
  for (int signal = 1; signal <= 64; ++signal) {
    SystemAction action = {};
    if (syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask) != 0) continue;
    if (action.handler == SIG_IGN && signal != SIGCHLD) continue;
    action = {};
    (void)syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
  }
}

TUNEC_IN_CHILD bool PrepareChild(const ChildSetup& plan) {
  if (plan.own_group && syscall(SYS_setpgid, 0, 0) != 0) return false;
  for (int stream = 0; stream < 3; ++stream) {
    const int from = plan.streams[static_cast<size_t>(stream)];
    if (from >= 0 && syscall(SYS_dup2, from, stream) < 0) return false;
  }
  if (!plan.ends_with_thread) return true;
  if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return false;
  return syscall(SYS_getppid) == plan.parent;  // false: the parent has ended
}

TUNEC_IN_CHILD int RunChild(void* argument) {
  ChildSetup& plan = *static_cast<ChildSetup*>(argument);
  ForgetHandlers();
  if (PrepareChild(plan)) {
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &plan.signals, nullptr, sizeof(uint64_t));
    (void)syscall(SYS_execve, plan.words[0], plan.words, environ);
  }
  plan.problem = errno;
  syscall(SYS_exit_group, 127);
  return 127;
}

// Duplicates the given streams, and /dev/null for a missing input, to descriptors above 2. So no
// stream is overwritten before its use.
Result<std::array<Descriptor, 3>> StreamsOf(const ChildStart& start) {
  const Descriptor nothing(start.input < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);
  const std::array<int, 3> given = {start.input < 0 ? nothing.get() : start.input, start.output,
                                    start.errors};
  std::array<Descriptor, 3> streams;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0) continue;
    streams[i] = Descriptor(fcntl(given[i], F_DUPFD_CLOEXEC, 3));
    if (streams[i].get() < 0)
      return Fail(ErrorCode::kIo, "cannot copy a descriptor: {}", std::strerror(errno));
  }
  return streams;
}

}  // namespace

Result<StartedChild> StartChild(const ChildStart& start) {
  TUNEC_ASSIGN(const auto streams, StreamsOf(start));
  std::vector<std::string> words = {start.path};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ChildSetup plan{.words = pointers.data(),
                  .streams = {streams[0].get(), streams[1].get(), streams[2].get()},
                  .own_group = start.own_group,
                  .ends_with_thread = start.ends_with_thread,
                  .parent = getpid()};
  alignas(16) std::array<std::byte, 32768> stack;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &plan.signals);
  int watched = -1;
  // With these flags, clone works like vfork. CLONE_PIDFD also returns a descriptor of the process.
  const int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
  std::byte* const top = stack.data() + stack.size();
  pid_t process = clone(RunChild, top, flags | CLONE_PIDFD, &plan, &watched);
  if (process < 0 && errno == EINVAL) process = clone(RunChild, top, flags, &plan);
  const int problem = process < 0 ? errno : plan.problem;
  pthread_sigmask(SIG_SETMASK, &plan.signals, nullptr);
  StartedChild child{process, Descriptor(watched)};
  if (problem == 0) return child;
  if (process > 0) (void)waitpid(process, nullptr, 0);
  return Fail(process > 0 ? ErrorCode::kNotFound : ErrorCode::kIo, "cannot run '{}': {}",
              start.path, std::strerror(problem));
}

}  // namespace tunec
