#include "ir/interpret/races.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"

namespace tunec {

RaceDetector::RaceDetector(IdVector<TensorId, TensorId> homes,
                           const IdVector<TensorId, int64_t>& elements)
    : homes_(std::move(homes)), storages_(elements.size()) {
  for (const TensorId t : elements.ids()) {
    storages_[t].marks.resize(static_cast<size_t>(elements[t]));
  }
  now_.section = 0;
}

void RaceDetector::BeginSection() {
  ++now_.section;
  ++now_.task;
}

void RaceDetector::Renew(TensorId tensor, bool is_private) {
  Storage& of = storage(tensor);
  ++of.life;
  of.is_private = is_private;
}

// Returns the marks of an element. Deletes the records of accesses to earlier storage in the same
// bytes if the storage is private or another task made them.
RaceDetector::Marks& RaceDetector::At(Storage& storage, int64_t offset) const {
  Marks& marks = storage.marks[static_cast<size_t>(offset)];
  if (marks.life == storage.life) return marks;
  marks.life = storage.life;
  if (storage.is_private || marks.write.task != now_.task) marks.write = {};
  if (storage.is_private || marks.read.task != now_.task) {
    marks.read = {};
    marks.several_tasks = marks.several_threads = false;
  }
  return marks;
}

// Returns whether the earlier access is by another agent and not ordered before an access by the
// present agent. Barriers do not order accesses to private storage. The caller ensures that one of
// the two accesses writes.
bool RaceDetector::Conflicts(const Storage& storage, const Stamp& earlier) const {
  if (earlier.section != now_.section) return false;
  if (earlier.task != now_.task) return true;
  const bool together = earlier.interval == now_.interval || storage.is_private;
  return together && earlier.thread != now_.thread;
}

std::unexpected<Error> RaceDetector::Race(const char* verb, const std::string& what,
                                          const char* other_verb, const Stamp& other,
                                          const char* other_name) const {
  TUNEC_CHECK(other.what != nullptr, "a race with nobody");
  const bool tasks = other.task != now_.task;
  const auto name = [&](const Stamp& stamp) {
    return tasks ? fmt::format("task {}", stamp.task)
                 : fmt::format("thread ({})", fmt::join(stamp.thread, ", "));
  };
  return Fail(ErrorCode::kInvalidArgument, "race: {} by {} in {}, which {} {} in {}", verb,
              name(now_), what, other_name == nullptr ? name(other) : other_name, other_verb,
              *other.what);
}

Status RaceDetector::Read(TensorId tensor, int64_t offset, const std::string& what) {
  Storage& of = storage(tensor);
  if (of.marks.empty()) return {};
  Marks& marks = At(of, offset);
  if (Conflicts(of, marks.write)) return Race("read", what, "writes", marks.write);
  Stamp& last = marks.read;
  if (last.section != now_.section) {
    marks.several_tasks = marks.several_threads = false;
  } else if (last.task != now_.task) {
    marks.several_tasks = true;
    marks.several_threads = false;
  } else if (last.interval != now_.interval && !of.is_private) {
    marks.several_threads = false;
  } else if (last.thread != now_.thread) {
    // A write by any thread before the next barrier is a race: the thread differs from the retained
    // reader, or several_threads records that other threads have read too.
    marks.several_threads = true;
  }
  last = now_;
  last.what = &what;
  return {};
}

Status RaceDetector::Write(TensorId tensor, int64_t offset, const std::string& what) {
  Storage& of = storage(tensor);
  if (of.marks.empty()) return {};
  Marks& marks = At(of, offset);
  if (Conflicts(of, marks.write)) return Race("write", what, "writes", marks.write);
  const Stamp& read = marks.read;
  const bool same_section = read.section == now_.section;
  const bool same_interval =
      same_section && read.task == now_.task && (read.interval == now_.interval || of.is_private);
  if (Conflicts(of, read)) return Race("write", what, "reads", read);
  if (same_section && marks.several_tasks)
    return Race("write", what, "reads", read, "another task");
  if (same_interval && marks.several_threads)
    return Race("write", what, "reads", read, "another thread");
  marks.write = now_;
  marks.write.what = &what;
  return {};
}

}  // namespace tunec
