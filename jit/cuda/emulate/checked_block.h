// What the threads of a block do to memory, checked one access at a time.
//
// Each byte remembers who wrote and read it last, and between which barriers. Two threads may be
// between the same two barriers at the same time, so they must not touch one byte there unless both
// read: the emulation's order does not matter, as in ir/interpret/races.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "jit/cuda/emulate/byte_marks.h"
#include "jit/cuda/emulate/emulated_thread.h"
#include "jit/cuda/emulate/late_copies.h"
#include "jit/cuda/emulate/regions.h"
#include "jit/cuda/emulate/warp_requests.h"

namespace tunec {

/// Who touched a byte last.
struct ThreadMarks {
  struct Stamp {
    int32_t thread = -1;
    int32_t interval = -1;  // between barriers
    const AccessName* name = nullptr;
  };
  Stamp write;
  Stamp read;
  bool several_read = false;  // threads of read.interval
  bool awaited = false;       // a copy is on its way there
};

/// Ends the process, with kernel, block, thread, statement, tensor and place, at an access beyond
/// the region or the shared memory that it set out from, at a read of shared memory that nobody
/// wrote, and at a race. Also where an asynchronous copy is not aligned, where its destination is
/// touched or its source changes before it is waited for, and where nothing waits for it.
class CheckedBlock {
 public:
  CheckedBlock(const EmulatedLaunch& launch, int64_t number, const void* shared);

  /// A thread is about to touch bytes, at an address computed from `base`; null when that is not
  /// known. No bytes: what it might have done there, it did not.
  void Access(int32_t thread, const void* base, const void* address, int64_t bytes, bool writes,
              int32_t site, const AccessName* name);
  /// A thread issues a copy to shared memory, which it may carry out now or later; its destination
  /// has no value until then. `site` is that of the write, the read's is the one before.
  void BeginCopy(int32_t thread, const void* to_base, const void* from_base, LateCopy copy,
                 int32_t site);
  void CommitCopies(int32_t thread) { copies_.Commit(thread); }
  /// All but the thread's last `pending` groups of copies are carried out.
  void EndCopies(int32_t thread, int32_t pending);
  /// The next access is another thread's.
  void EndTurn(int32_t thread);
  /// All threads have come to a barrier, or to their end.
  void EndInterval() { ++interval_; }
  void EndBlock() const;

  /// All of its accesses, to memory that other blocks see.
  const ByteMarks<ThreadMarks>& global() const { return global_; }
  EmulatedCounts counts() const { return requests_.counts(); }

 private:
  struct Place;

  bool IsShared(const void* address) const;
  const std::optional<MemoryRegion>& RegionFrom(const void* base);
  void CheckBounds(const Place& place, const void* base);
  void CheckAligned(const Place& place, int64_t bytes) const;
  void CountRequest(const Place& place, const void* base, int32_t site);
  void Touch(const Place& place, bool shared);
  void Deliver(int32_t thread, const LateCopy& copy);
  void Read(const Place& place, const std::byte* byte, ThreadMarks& marks) const;
  void Write(const Place& place, const std::byte* byte, ThreadMarks& marks) const;
  [[noreturn]] void Stop(const Place& place, const std::string& why) const;
  [[noreturn]] void StopAtRace(const Place& place, const std::byte* byte, const std::string& who,
                               std::string_view does) const;
  std::string NameOf(const void* address) const;

  const EmulatedLaunch& launch_;
  const int64_t number_;
  const std::byte* const shared_begin_;
  const bool counts_;
  int32_t interval_ = 0;
  ByteMarks<ThreadMarks> global_;
  ByteMarks<ThreadMarks> shared_;
  std::map<const void*, std::optional<MemoryRegion>> regions_;
  WarpRequests requests_;
  LateCopies copies_;
};

/// What generated code calls before it touches memory.
void CheckEmulatedAccess(EmulatedThread* thread, const void* base, const void* address,
                         int64_t bytes, int32_t writes, int32_t site, const AccessName* name);

/// What it calls instead of asynchronous copies, of commits of a group, and of waits for all but
/// the last groups.
void BeginEmulatedCopy(EmulatedThread* thread, const void* to_base, void* to, const void* from_base,
                       const void* from, int64_t bytes, int32_t read_bytes, int32_t site,
                       const AccessName* name);
void CommitEmulatedCopies(EmulatedThread* thread);
void WaitForEmulatedCopies(EmulatedThread* thread, int32_t pending);

}  // namespace tunec
