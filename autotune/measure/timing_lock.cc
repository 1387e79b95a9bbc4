// A waiting handle has a shared lock of the byte behind the owner's byte. So a handle detects
// others that wait, and lets them go first.
#include "autotune/measure/timing_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "db/cache_folder.h"
#include "ir/target.h"

namespace tunec {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestPoll{5};
constexpr milliseconds kLongestPoll{20};
// The time that a handle leaves to others after a release. It is longer than all poll intervals.
constexpr milliseconds kYield{25};
constexpr milliseconds kCallInterval{100};  // time between calls of LockWait::on_wait

// Returns the position of the owner's byte. The position depends on the running system, so that
// machines with a common home folder do not exclude each other.
off_t PositionHere() {
  static const off_t position = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string boot;
    std::getline(file, boot);
    return static_cast<off_t>(StreamSeed(0, boot) >> 2);
  }();
  return position;
}

// Returns a request for one byte, or for the owner's byte and the byte behind it.
struct flock RequestOf(short type, off_t start, off_t bytes = 1) {
  struct flock request {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = start;
  request.l_len = bytes;
  return request;
}

Result<Descriptor> OpenLockFile(const std::string& path) {
  if (path.empty())
    return Fail(ErrorCode::kNotFound, "no folder for its file: set HOME or XDG_CACHE_HOME");
  TUNEC_RETURN_IF_ERROR(MakePrivateFolders(std::filesystem::path(path).parent_path()));
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Descriptor file(open(path.c_str(), kFlags, 0600));
  if (file.get() >= 0) return file;
  return Fail(ErrorCode::kIo, "{}: cannot open: {}", path, std::strerror(errno));
}

// Locks the owner's byte. Returns false if another handle has the lock. Fails with kIo if the file
// system has no locks.
Result<bool> TryLock(int file, const std::string& path) {
  struct flock request = RequestOf(F_WRLCK, PositionHere());
  if (fcntl(file, F_OFD_SETLK, &request) == 0) return true;
  if (errno == EAGAIN || errno == EACCES || errno == EINTR) return false;
  return Fail(ErrorCode::kIo, "{}: cannot lock: {}", path, std::strerror(errno));
}

void MarkAsWaiting(int file) {
  struct flock request = RequestOf(F_RDLCK, PositionHere() + 1);
  (void)fcntl(file, F_OFD_SETLK, &request);
}

bool AnotherWaits(int file) {
  struct flock request = RequestOf(F_WRLCK, PositionHere() + 1);
  return fcntl(file, F_OFD_GETLK, &request) == 0 && request.l_type != F_UNLCK;
}

}  // namespace

std::string TimingLockPath(std::string_view device) {
  const Result<std::string> folder = CacheFolder();
  return folder ? fmt::format("{}/timing-{}.lock", *folder, device) : "";
}

std::string HostTimingLockPath() { return TimingLockPath(Target().Kind()); }

TimingLock::Hold::Hold(Descriptor file) : file_(std::move(file)), process_(getpid()) {}

// Unlocks explicitly, because the descriptors of forked processes keep a lock. Does nothing in such
// a process, because its descriptor shares the lock with the owner.
TimingLock::Hold::~Hold() {
  if (file_.get() < 0 || process_ != getpid()) return;
  struct flock request = RequestOf(F_UNLCK, PositionHere(), 2);
  (void)fcntl(file_.get(), F_OFD_SETLK, &request);
  if (lock_ != nullptr) lock_->released_ = std::chrono::steady_clock::now();
}

TimingLock::TimingLock(std::string path, LockWait wait)
    : path_(std::move(path)),
      wait_(std::move(wait)),
      random_(StreamSeed(static_cast<uint64_t>(getpid()), path_)) {}

Result<TimingLock::Hold> TimingLock::Acquire() {
  Result<Descriptor> file = OpenLockFile(path_);
  if (!file) {
    Note(file.error().message);
    return Hold();
  }
  Hold hold(*std::move(file));
  const Time start = std::chrono::steady_clock::now();
  const Time first_try = AnotherWaits(hold.file_.get()) ? released_ + kYield : start;
  for (Time next_call = start;;) {
    if (std::chrono::steady_clock::now() >= first_try) {
      const Result<bool> locked = TryLock(hold.file_.get(), path_);
      if (!locked) Note(locked.error().message);
      if (!locked || (!*locked && has_given_up_)) return Hold();
      if (*locked) break;
    }
    MarkAsWaiting(hold.file_.get());
    if (wait_.cancelled && wait_.cancelled())
      return Fail(ErrorCode::kCancelled, "cancelled while waiting for the timing lock");
    if (ShouldEndWait(start, next_call)) return Hold();
    std::this_thread::sleep_for(PollInterval());
  }
  has_given_up_ = false;
  hold.lock_ = this;
  return hold;
}

// Calls on_wait if its interval has passed. Returns true if the wait was too long.
bool TimingLock::ShouldEndWait(Time start, Time& next_call) {
  const Time now = std::chrono::steady_clock::now();
  if (wait_.on_wait && now >= next_call) {
    wait_.on_wait();
    next_call = now + kCallInterval;
  }
  if (std::chrono::duration<double>(now - start).count() < wait_.most_seconds) return false;
  has_given_up_ = true;
  Note(fmt::format("other tuners had the lock for {} s", wait_.most_seconds));
  return true;
}

// Calls on_note for the first reason only, because a tuning acquires the lock many times.
void TimingLock::Note(const std::string& reason) {
  if (std::exchange(has_noted_, true) || !wait_.on_note) return;
  wait_.on_note("kernels are timed without the timing lock: " + reason);
}

std::chrono::milliseconds TimingLock::PollInterval() {
  const auto range = static_cast<uint64_t>((kLongestPoll - kShortestPoll).count());
  return kShortestPoll + milliseconds(random_.Below(range + 1));
}

Result<TimingLock::Hold> AcquireIfAny(TimingLock* lock) {
  if (lock == nullptr) return TimingLock::Hold();
  return lock->Acquire();
}

}  // namespace tunec
