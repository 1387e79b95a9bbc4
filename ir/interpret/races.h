// Detection of races. For each element, the last agents that read and wrote it are recorded. Two
// agents that may run at the same time must not touch the same element, unless both read.
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
  /// Constructs a detector. homes[t] is the owner of the storage of tensor t. elements[h]
  /// is the number of elements of owner h's storage to watch; 0 for storage that is never written.
  RaceDetector(IdVector<TensorId, TensorId> homes, const IdVector<TensorId, int64_t>& elements);

  /// Begins a section: all later accesses come after all earlier ones.
  void BeginSection();
  void BeginTask() { ++now_.task; }
  void Barrier() { ++now_.interval; }
  /// Sets the thread's number along one axis. Outside of block loops of the axis the number must be
  /// 0.
  void SetThread(size_t axis, int64_t number) {
    now_.thread.at(axis) = static_cast<int16_t>(number);
  }
  /// Begins new storage of a tensor in the same bytes. Accesses of this task to the earlier storage
  /// still count, because other threads may not have finished with the bytes. If the storage is
  /// private, they do not count. Two threads of a task must then never touch one element, not even
  /// with a barrier between them, unless both read. A race between two tensors that use the same
  /// bytes one after the other is not detected.
  void Renew(TensorId tensor, bool is_private);

  /// Record an access by the present agent. Fail if the access is a race with an earlier one.
  /// `what` is the name of the accessing statement, for messages. The string must outlive this
  /// object.
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
  // section have read it, and `several_threads` if several threads of the task have read it since
  // the last barrier. `life` is the number of Renew calls before the last access.
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
  /// Returns the error for an access that races with `other`. `other_name` is given if the present
  /// agent made the access `other`, but another agent made an access like it.
  std::unexpected<Error> Race(const char* verb, const std::string& what, const char* other_verb,
                              const Stamp& other, const char* other_name = nullptr) const;

  IdVector<TensorId, TensorId> homes_;
  IdVector<TensorId, Storage> storages_;
  Stamp now_;
};

}  // namespace tunec
