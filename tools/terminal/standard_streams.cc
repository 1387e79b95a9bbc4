#include "tools/terminal/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace tunec {

void ReserveStandardStreams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // With the wrong direction or a directory, each transfer fails. open() returns the lowest free
    // descriptor.
    const int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode) < 0) (void)open("/", O_RDONLY);
  }
}

void IgnoreFileSizeSignal() { (void)std::signal(SIGXFSZ, SIG_IGN); }

bool HasLostStandardOutput() { return std::fflush(stdout) != 0 || std::ferror(stdout) != 0; }

}  // namespace tunec
