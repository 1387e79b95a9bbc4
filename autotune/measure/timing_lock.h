// A lock with which the tuners of one user time kernels one after the other, because two timings at
// the same time disturb each other. The owner holds a lock of an open file description
// (F_OFD_SETLK) on a byte of a file. The system releases the lock when its owner dies.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "support/descriptor.h"
#include "support/error.h"
#include "support/random.h"

namespace tunec {

/// Returns the path of the lock file of a device (DeviceIdentity) in the user's cache folder. Each
/// device has a file, so timing on a GPU does not wait for timing on the processor. Returns an
/// empty path if CacheFolder fails.
std::string TimingLockPath(std::string_view device);
/// Returns the path of the lock file of this machine's processor.
std::string HostTimingLockPath();

/// The callbacks and the limit of waits for a timing lock. Each callback may be empty.
struct LockWait {
  std::function<bool()> cancelled;  // called every few milliseconds; true ends the wait
  std::function<void()> on_wait;    // called about ten times a second
  /// Receives a line for users if kernels are timed without the lock.
  std::function<void(const std::string&)> on_note;
  double most_seconds = 60;  // a longer wait ends without the lock
};

/// A handle of the lock of one device. Two handles exclude each other, also in one process. Only
/// one thread at a time may use an object.
class TimingLock {
 public:
  /// The time between acquiring and releasing the lock. The destructor releases the lock, also if a
  /// process was forked meanwhile. In the forked process the destructor only closes the file.
  class [[nodiscard]] Hold {
   public:
    Hold() = default;
    Hold(Hold&&) noexcept = default;
    Hold& operator=(Hold&&) = delete;
    ~Hold();
    /// Returns false if kernels are timed without the lock.
    bool IsLocked() const { return file_.get() >= 0 && lock_ != nullptr; }

   private:
    friend class TimingLock;
    explicit Hold(Descriptor file);

    Descriptor file_;
    pid_t process_ = 0;           // the process that opened the file
    TimingLock* lock_ = nullptr;  // null: not locked
  };

  /// Makes a handle of the lock in the file `path` (TimingLockPath).
  TimingLock(std::string path, LockWait wait);
  TimingLock(const TimingLock&) = delete;
  TimingLock& operator=(const TimingLock&) = delete;

  /// Waits for the lock. Returns a hold without the lock if the file cannot be made or locked, and
  /// after a wait of `most_seconds`. After such a wait, further calls do not wait until one of them
  /// has found the lock free. If another handle waits, a call soon after the last release lets it
  /// go first. Fails with kCancelled if the wait is cancelled. Requires: this object outlives the
  /// hold.
  Result<Hold> Acquire();

 private:
  using Time = std::chrono::steady_clock::time_point;
  bool ShouldEndWait(Time start, Time& next_call);
  void Note(const std::string& reason);
  std::chrono::milliseconds PollInterval();

  std::string path_;
  LockWait wait_;
  Random random_;
  Time released_ = Time::min();
  bool has_given_up_ = false;  // the last wait was too long
  bool has_noted_ = false;
};

/// Acquires the lock. Returns a hold without a lock if `lock` is null.
Result<TimingLock::Hold> AcquireIfAny(TimingLock* lock);

}  // namespace tunec
