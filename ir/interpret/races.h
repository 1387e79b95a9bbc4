// Who touched which element last: two agents that may run at the same time must not touch one
// element, unless both read.
//
// An agent is a thread of a task. Tasks of one section (a phase, or a wave of it) run in any
// order; threads of one task in any order between two barriers. So an order in which nothing races
// stands for all.
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
  /// `homes`: for each tensor the one whose storage it shares. `elements`: of each storage that is
  /// to be watched, by home; 0 where nothing is written.
  RaceDetector(IdVector<TensorId, TensorId> homes, const IdVector<TensorId, int64_t>& elements);

  /// All that follows comes after all that was before.
  void BeginSection();
  void BeginTask() { ++now_.task; }
  void Barrier() { ++now_.interval; }
  /// The threads along one axis; 0 outside its block loop.
  void SetThread(size_t axis, int64_t number) {
    now_.thread.at(axis) = static_cast<int16_t>(number);
  }
  /// Fresh storage in the same bytes: who touched them in this task may still be at it. A private
  /// one belongs to whoever first writes an element. That other storage may lie in its bytes later
  /// goes unseen.
  void Renew(TensorId tensor, bool is_private);

  /// `what` is the access's place in the program, for messages: a string that outlives this.
  Status Read(TensorId tensor, int64_t offset, const std::string& what);
  Status Write(TensorId tensor, int64_t offset, const std::string& what);

  using Thread = std::array<int16_t, 3>;
  const Thread& thread() const { return now_.thread; }
  /// For what a thread does later: the end of a copy that it began.
  void SetThread(const Thread& thread) { now_.thread = thread; }

 private:
  struct Stamp {
    int section = -1;
    int task = 0;
    int interval = 0;  // between barriers
    Thread thread = {0, 0, 0};
    const std::string* what = nullptr;
  };
  // The last write, the last read, and whether reads came from several tasks of the section, or
  // several threads of the interval.
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
  std::unexpected<Error> Race(const char* verb, const std::string& what, const char* other_verb,
                              const Stamp& other) const;

  IdVector<TensorId, TensorId> homes_;
  IdVector<TensorId, Storage> storages_;
  Stamp now_;
};

}  // namespace tunec
