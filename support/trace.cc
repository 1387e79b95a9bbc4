#include "support/trace.h"

#include <atomic>
#include <ctime>
#include <mutex>

#include "support/check.h"

namespace tunec {
namespace {

int64_t Nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct Recorded {
  int64_t start = Nanoseconds(CLOCK_MONOTONIC);
  std::mutex mutex;  // guards the other members
  std::vector<TraceSpan> spans;
  int threads = 0;
};

std::atomic<Recorded*> current = nullptr;

// Returns the number of the calling thread in a recording. A new thread gets the next number.
int ThreadIn(Recorded& recorded) {
  thread_local const Recorded* known = nullptr;
  thread_local int64_t start = 0;  // a later recording may have the same address
  thread_local int number = 0;
  if (known != &recorded || start != recorded.start) {
    const std::lock_guard lock(recorded.mutex);
    known = &recorded;
    start = recorded.start;
    number = recorded.threads++;
  }
  return number;
}

}  // namespace

TraceRecording::TraceRecording() {
  Recorded* none = nullptr;
  auto* const recorded = new Recorded;
  const bool is_first = current.compare_exchange_strong(none, recorded);
  TUNEC_CHECK(is_first, "another recording exists");
}

TraceRecording::~TraceRecording() { delete current.exchange(nullptr); }

std::vector<TraceSpan> TraceRecording::Spans() const {
  Recorded& recorded = *current.load();
  const std::lock_guard lock(recorded.mutex);
  return recorded.spans;
}

TraceScope::TraceScope(std::string_view stage, std::string_view detail) {
  Recorded* const recorded = current.load(std::memory_order_acquire);
  if (recorded == nullptr) return;
  records_ = true;
  span_.stage = stage;
  span_.detail = detail;
  span_.thread = ThreadIn(*recorded);
  span_.begin = Nanoseconds(CLOCK_MONOTONIC) - recorded->start;
  span_.processor = Nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

TraceScope::~TraceScope() {
  if (!records_) return;
  Recorded& recorded = *current.load();
  span_.processor = Nanoseconds(CLOCK_THREAD_CPUTIME_ID) - span_.processor;
  span_.end = Nanoseconds(CLOCK_MONOTONIC) - recorded.start;
  const std::lock_guard lock(recorded.mutex);
  recorded.spans.push_back(std::move(span_));
}

}  // namespace tunec
