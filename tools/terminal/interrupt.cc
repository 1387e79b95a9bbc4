#include "tools/terminal/interrupt.h"

#include <csignal>

namespace tunec {
namespace {

volatile std::sig_atomic_t interrupted_by = 0;

void OnInterrupt(int signal) { interrupted_by = signal; }

void Catch(int signal) {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  // The first delivery restores the default action.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool IsIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void CatchInterrupts() {
  Catch(SIGINT);
  Catch(SIGTERM);
  if (!IsIgnored(SIGHUP)) Catch(SIGHUP);
}

bool Interrupted() { return interrupted_by != 0; }

int InterruptionExitCode() {
  constexpr int kOfSignals = 128;
  return kOfSignals + interrupted_by;
}

}  // namespace tunec
