// Checks of the memory accesses of a block's threads, one access at a time.
//
// The checker stores the last writer and the last reader of each byte, and the barrier intervals of
// both accesses. On a GPU, all threads may be in the same interval at the same time. Two threads
// must therefore not access one byte in the same interval, unless both read. The order in which the
// emulation runs the threads does not change the result of the check (as in ir/interpret/races.h).
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

/// The last write and the last read of a byte.
struct ThreadMarks {
  struct Stamp {
    int32_t thread = -1;
    int32_t interval = -1;  // number of the interval between barriers
    const AccessName* name = nullptr;
  };
  Stamp write;
  Stamp read;
  bool several_read = false;  // several threads read it in read.interval
  bool awaited = false;       // an asynchronous copy to it is in flight
};

/// A checker of the accesses of one block. Ends the process in the cases below. The message has the
/// kernel, block, thread and address, and the known names of statement and tensor. Cases:
/// - an access that exceeds the region or shared memory of the base address;
/// - a read of shared memory without a previous write; a race;
/// - an asynchronous copy that is not aligned or has no wait;
/// - before the wait for a copy, an access of the destination or a change of the source.
class CheckedBlock {
 public:
  CheckedBlock(const EmulatedLaunch& launch, int64_t number, const void* shared);

  /// Checks an access by a thread, before the access. The address is computed from `base`, which is
  /// null if unknown. If `bytes` is 0, the access is masked off and not checked, but numbered among
  /// the thread's accesses at `site`. `site` identifies the access in the code. `name` may be null.
  void Access(int32_t thread, const void* base, const void* address, int64_t bytes, bool writes,
              int32_t site, const AccessName* name);
  /// Begins a thread's copy to shared memory. A GPU may execute the copy now or later; the
  /// destination has no value until EndCopies. `site` is the site of the write; the read has the
  /// previous site.
  void BeginCopy(int32_t thread, const void* to_base, const void* from_base, LateCopy copy,
                 int32_t site);
  void CommitCopies(int32_t thread) { copies_.Commit(thread); }
  /// Executes the copies of all groups of the thread, except for its last `pending` groups.
  void EndCopies(int32_t thread, int32_t pending);
  /// Ends a thread's turn. Must be called before another thread accesses memory.
  void EndTurn(int32_t thread);
  /// Ends the interval, when all threads have reached a barrier or their end.
  void EndInterval() { ++interval_; }
  void EndBlock() const;

  /// Returns the marks of all accesses to memory that other blocks can access.
  const ByteMarks<ThreadMarks>& global() const { return global_; }
  EmulatedCounts counts() const { return requests_.counts(); }

 private:
  struct MemoryAccess;

  bool IsShared(const void* address) const;
  const std::optional<MemoryRegion>& RegionFrom(const void* base);
  void CheckBounds(const MemoryAccess& access, const void* base);
  void CheckAligned(const MemoryAccess& access, int64_t bytes) const;
  void CountRequest(const MemoryAccess& access, const void* base, int32_t site);
  void Touch(const MemoryAccess& access, bool shared);
  void Deliver(int32_t thread, const LateCopy& copy);
  void Read(const MemoryAccess& access, const std::byte* byte, ThreadMarks& marks) const;
  void Write(const MemoryAccess& access, const std::byte* byte, ThreadMarks& marks) const;
  [[noreturn]] void Stop(const MemoryAccess& access, const std::string& why) const;
  [[noreturn]] void StopAtRace(const MemoryAccess& access, const std::byte* byte,
                               const std::string& who, std::string_view does) const;
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

/// Calls CheckedBlock::Access for the thread's block. InstrumentAccesses inserts calls of this
/// function into checked kernels.
void CheckEmulatedAccess(EmulatedThread* thread, const void* base, const void* address,
                         int64_t bytes, int32_t writes, int32_t site, const AccessName* name);

/// Begin an asynchronous copy, commit a group of copies, and wait for all groups except the last
/// `pending` ones. Checked kernels call these functions instead of the instructions.
void BeginEmulatedCopy(EmulatedThread* thread, const void* to_base, void* to, const void* from_base,
                       const void* from, int64_t bytes, int32_t read_bytes, int32_t site,
                       const AccessName* name);
void CommitEmulatedCopies(EmulatedThread* thread);
void WaitForEmulatedCopies(EmulatedThread* thread, int32_t pending);

}  // namespace tunec
