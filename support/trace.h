// Recording of where time goes: named intervals of time on each thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tunec {

/// An interval of time on one thread. The intervals of a thread nest. `begin` and `end` are in
/// nanoseconds since the start of the recording.
struct TraceSpan {
  std::string stage;   // such as `legality`
  std::string detail;  // the object that the stage works on, such as a kernel's name; may be empty
  int thread = 0;      // threads are numbered by their first interval
  int64_t begin = 0;
  int64_t end = 0;
  int64_t processor = 0;  // the thread's processor time, in nanoseconds
};

/// A recording of the spans of all threads of this process. At most one exists at a time. Every
/// TraceScope that starts during the recording must end before the recording ends.
class TraceRecording {
 public:
  TraceRecording();
  ~TraceRecording();
  TraceRecording(const TraceRecording&) = delete;
  TraceRecording& operator=(const TraceRecording&) = delete;

  /// Returns the spans that have ended, in the order in which they were added.
  std::vector<TraceSpan> Spans() const;
};

/// A scope that adds a span from construction to destruction. A scope that is made without a
/// recording adds none.
class TraceScope {
 public:
  explicit TraceScope(std::string_view stage, std::string_view detail = {});
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  bool records_ = false;
  TraceSpan span_;
};

}  // namespace tunec
