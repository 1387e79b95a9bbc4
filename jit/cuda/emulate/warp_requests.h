// Counts of the memory requests of warps.
//
// A GPU executes one instruction for 32 threads at once. Global memory is accessed in sectors of 32
// bytes. Shared memory has 32 banks of 4 bytes, and each bank delivers one word at a time. In the
// emulation, threads run one after the other. The accesses of a site between two barriers or warp
// operations are therefore combined by order: the first access of every thread of a warp, the
// second access, and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tunec {

struct EmulatedCounts {
  int64_t global_requests = 0;  // instructions of a warp
  int64_t global_sectors = 0;   // sectors that these instructions access
  int64_t shared_requests = 0;
  int64_t bank_conflicts = 0;  // rounds beyond the first of each half, quarter or whole warp

  EmulatedCounts& operator+=(const EmulatedCounts& other);
  bool operator==(const EmulatedCounts&) const = default;
};

/// A counter of the memory requests of all checked kernels that run in this process while the
/// object lives. Results may be read at any time, from any thread.
class CountedRun {
 public:
  CountedRun();
  ~CountedRun();
  CountedRun(const CountedRun&) = delete;
  CountedRun& operator=(const CountedRun&) = delete;

  /// Returns the counts so far of the kernel `symbol`. A block counts when it ends.
  EmulatedCounts Of(const std::string& symbol) const;

  /// Returns whether a counter exists.
  static bool Any();
  /// Adds the counts to each counter that exists.
  static void Add(const char* symbol, const EmulatedCounts& counts);

 private:
  std::map<std::string, EmulatedCounts> counts_;
};

/// A counter of the memory requests of the warps of one block.
class WarpRequests {
 public:
  enum class Space : uint8_t { kGlobal, kShared };

  /// Adds a thread's access of `bytes` bytes; addresses of shared memory are relative to its start.
  /// If `bytes` is 0, the thread does not take part in the request.
  void Add(int32_t thread, int32_t site, Space space, uint64_t address, int64_t bytes);
  /// Ends a thread's turn. `last` is true for the block's last thread. The next access must be made
  /// by a later thread of the warp, or by any thread if this thread is the warp's last one.
  void EndTurn(int32_t thread, bool last);
  EmulatedCounts counts() const { return counts_; }

 private:
  struct Part {
    int32_t lane = 0;
    uint64_t address = 0;
    int64_t bytes = 0;
  };
  struct Request {
    Space space = Space::kGlobal;
    std::vector<Part> parts;
  };
  struct Site {
    std::vector<Request> requests;
    size_t next = 0;  // next request of the current thread
  };

  void Count(const Request& request);
  static int64_t Sectors(const Request& request);
  static int64_t BankConflicts(const Request& request);

  std::vector<Site> sites_;
  EmulatedCounts counts_;
};

}  // namespace tunec
