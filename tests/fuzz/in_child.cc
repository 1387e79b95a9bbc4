#include "tests/fuzz/in_child.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <vector>

namespace tunec::fuzz {
namespace {

/// A forked process whose output is read through a pipe.
class Child {
 public:
  explicit Child(const std::function<void(FILE*)>& body) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    std::fflush(stdout);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      FILE* out = fdopen(ends[1], "w");
      body(out);
      std::fclose(out);
      _exit(0);
    }
    close(ends[1]);
    descriptor_ = ends[0];
  }

  int descriptor() const { return descriptor_; }

  /// Waits for output and calls `line` for each complete line. Returns false at the end of output
  /// or after an error.
  bool Read(const std::function<void(const std::string&)>& line) {
    char bytes[4096];
    const ssize_t count = read(descriptor_, bytes, sizeof bytes);
    if (count <= 0) return false;
    for (ssize_t i = 0; i < count; ++i) {
      if (bytes[i] != '\n') {
        begun_ += bytes[i];
      } else {
        line(begun_);
        begun_.clear();
      }
    }
    return true;
  }

  /// Waits for the end of the process. Returns true if it exited with status 0.
  bool Wait() {
    close(descriptor_);
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t pid_ = 0;
  int descriptor_ = -1;
  std::string begun_;  // an incomplete line
};

std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

class Driver {
 public:
  Driver(const Batches& batches, const std::function<std::string(uint64_t)>& check,
         const std::function<void(uint64_t, const std::string&)>& record)
      : batches_(batches), check_(check), record_(record) {}

  uint64_t Run() {
    Start();
    while (!workers_.empty()) {
      std::vector<pollfd> waiting;
      for (const Worker& worker : workers_)
        waiting.push_back({.fd = worker.child.descriptor(), .events = POLLIN, .revents = 0});
      poll(waiting.data(), waiting.size(), -1);
      for (size_t i = waiting.size(); i-- > 0;)
        if (waiting[i].revents != 0) Serve(i);
      Start();
    }
    return recorded_;
  }

 private:
  struct Range {
    uint64_t first = 0, last = 0;
  };
  struct Worker {
    Child child;
    Range range;
    uint64_t begun, ended;  // numbers of the next case to begin and to end
  };

  bool IsTimeUp() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return batches_.seconds > 0 && passed.count() >= batches_.seconds;
  }

  void Start() {
    while (workers_.size() < batches_.jobs && !IsTimeUp()) {
      if (left_.empty()) {
        const uint64_t first = next_;
        next_ += batches_.per_child;
        if (batches_.cases > 0) next_ = std::min(next_, batches_.cases);
        if (next_ == first) return;
        left_.push_back({first, next_});
      }
      const Range range = left_.front();
      left_.pop_front();
      workers_.push_back({.child = Child([&](FILE* out) { Work(range, out); }),
                          .range = range,
                          .begun = range.first,
                          .ended = range.first});
    }
  }

  void Work(const Range& range, FILE* out) {
    for (uint64_t number = range.first; number < range.last && !IsTimeUp(); ++number) {
      std::fputs("begin\n", out);
      std::fflush(out);
      alarm(batches_.seconds_per_case);
      std::fprintf(out, " %s\n", OneLine(check_(number)).c_str());
    }
  }

  void Serve(size_t index) {
    Worker& worker = workers_[index];
    const bool more = worker.child.Read([&](const std::string& line) {
      if (line == "begin") {
        ++worker.begun;
      } else {
        Record(worker.ended++, line.substr(1));
      }
    });
    if (more) return;
    if (!worker.child.Wait()) {
      if (worker.ended < worker.begun) Record(worker.ended++, std::string(kCrashed));
      if (worker.ended < worker.range.last) left_.push_back({worker.ended, worker.range.last});
    }
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void Record(uint64_t number, const std::string& answer) {
    ++recorded_;
    record_(number, answer);
  }

  const Batches& batches_;
  const std::function<std::string(uint64_t)>& check_;
  const std::function<void(uint64_t, const std::string&)>& record_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Worker> workers_;
  std::deque<Range> left_;  // next ranges, for example the rest of a crashed child's range
  uint64_t next_ = 0, recorded_ = 0;
};

}  // namespace

bool InChild(const std::function<void(FILE*)>& body,
             const std::function<void(const std::string&)>& line) {
  Child child(body);
  while (child.Read(line)) {
  }
  return child.Wait();
}

uint64_t RunBatches(const Batches& batches, const std::function<std::string(uint64_t)>& check,
                    const std::function<void(uint64_t, const std::string&)>& record) {
  return Driver(batches, check, record).Run();
}

}  // namespace tunec::fuzz
