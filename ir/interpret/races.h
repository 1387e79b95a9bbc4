// Detection of races. For each watched element, the last agents that read and wrote it are
// recorded. Accesses by two agents that may happen at the same time must not touch one element,
// unless both read.
//
// An agent is a thread of a task. Tasks of one section (a phase, or a wave of it) run in any order.
// Threads of one task run in any order between two barriers. One order without a race therefore
// stands for all orders.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/loop_nest.h"
#include "support/error.h"

namespace tunec {

class RaceDetector {
 public:
  /// Constructs a detector. homes[t] is the owner of the storage of tensor t. elements[h] is the
  /// number of elements of owner h's storage; 0 for storage that is not watched.
  RaceDetector(IdVector<TensorId, TensorId> homes, const IdVector<TensorId, int64_t>& elements);

  /// Begins a section: all later accesses come after all earlier ones.
  void BeginSection();
  void BeginTask() { ++now_.task; }
  void Barrier() { ++now_.interval; }
  /// Sets the number, along one axis, of the thread that makes the following accesses.
  void SetThread(size_t axis, int64_t number) {
    now_.thread.at(axis) = static_cast<int16_t>(number);
  }
  /// Begins new storage of a tensor in the same bytes. Accesses of this task to the earlier storage
  /// still count unless the new storage is private, because other threads may not have finished
  /// with the bytes. Two threads of a task must never touch one element of private storage, not
  /// even with a barrier between the accesses, unless both read. A race between the tensors of
  /// consecutive Allocs in the same bytes is not detected.
  void Renew(TensorId tensor, bool is_private);

  /// Record an access by the present agent. Fail if the access is a race with an earlier one.
  /// `what` is the name of the accessing statement, tile or copy, for messages. The string must
  /// stay valid until the last access.
  Status Read(TensorId tensor, int64_t offset, const std::string& what);
  Status Write(TensorId tensor, int64_t offset, const std::string& what);

  using Thread = std::array<int16_t, 3>;
  const Thread& thread() const { return now_.thread; }
  /// Sets the thread that makes the following accesses. The thread that begins an
  /// asynchronous copy makes all accesses of the copy, even if another thread waits for the end.
  void SetThread(const Thread& thread) { now_.thread = thread; }

 private:
  struct Stamp {
    int section = -1;
    int task = 0;
    int interval = 0;  // number of barriers so far
    Thread thread = {0, 0, 0};
    const std::string* what = nullptr;
  };
  // The last write and the last read of an element. `several_tasks` is true if several tasks of the
  // last read's section have read the element. `several_threads` is true if several threads of the
  // last read's task have read the element, in one interval unless the storage is private. `life`
  // is the number of Renew calls before the last access.
  struct Marks {
    int life = 0;
    Stamp write;
    Stamp read;
    bool several_tasks = false;
    bool several_threads = false;
  };
  struct Storage {
    std::vector<Marks> marks;
    int life = 0;
    bool is_private = false;
  };

  Storage& storage(TensorId tensor) { return storages_[homes_[tensor]]; }
  Marks& At(Storage& storage, int64_t offset) const;
  bool Conflicts(const Storage& storage, const Stamp& earlier) const;
  /// Returns the error for an access that races with `other`. If `other_name` is given, the race is
  /// with a similar access by the other agent that `other_name` describes.
  std::unexpected<Error> Race(const char* verb, const std::string& what, const char* other_verb,
                              const Stamp& other, const char* other_name = nullptr) const;

  IdVector<TensorId, TensorId> homes_;
  IdVector<TensorId, Storage> storages_;
  Stamp now_;
};

}  // namespace tunec
