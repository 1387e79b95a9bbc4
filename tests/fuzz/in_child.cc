#include "tests/fuzz/in_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace tunec::fuzz {

bool InChild(const std::function<void(FILE*)>& body,
             const std::function<void(const std::string&)>& line) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    FILE* out = fdopen(ends[1], "w");
    body(out);
    std::fclose(out);
    _exit(0);
  }
  close(ends[1]);
  FILE* in = fdopen(ends[0], "r");
  char* text = nullptr;
  size_t capacity = 0;
  while (getline(&text, &capacity, in) > 0) {
    std::string read = text;
    if (read.back() == '\n') read.pop_back();
    line(read);
  }
  std::free(text);
  std::fclose(in);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tunec::fuzz
