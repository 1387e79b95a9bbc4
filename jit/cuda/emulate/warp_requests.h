// How well the accesses of a warp fit the memory's parts.
//
// A GPU carries out one instruction for 32 threads at once. Global memory is read and written in
// sectors of 32 bytes; shared memory has 32 banks of 4 bytes, and each gives one word at a time.
// Here threads run one after the other, so what they do at one place of the code, the first time,
// the second time and so on between two barriers, is put together again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tunec {

struct EmulatedCounts {
  int64_t global_requests = 0;  // instructions of a warp
  int64_t global_sectors = 0;   // that these touch
  int64_t shared_requests = 0;
  int64_t bank_conflicts = 0;  // rounds that these take beyond those without conflicts

  EmulatedCounts& operator+=(const EmulatedCounts& other);
  bool operator==(const EmulatedCounts&) const = default;
};

/// Adds up what checked kernels do in this process while it lives. May be asked at any time, from
/// any thread.
class CountedRun {
 public:
  CountedRun();
  ~CountedRun();
  CountedRun(const CountedRun&) = delete;
  CountedRun& operator=(const CountedRun&) = delete;

  /// Of all blocks of the kernel that have ended so far.
  EmulatedCounts Of(const std::string& symbol) const;

  /// Whether anyone counts.
  static bool Any();
  /// For everyone that counts.
  static void Add(const char* symbol, const EmulatedCounts& counts);

 private:
  std::map<std::string, EmulatedCounts> counts_;
};

/// The requests of the warps of one block.
class WarpRequests {
 public:
  enum class Space : uint8_t { kGlobal, kShared };

  /// A thread touches bytes; of shared memory the address is relative to its begin. No bytes: it
  /// takes no part in this request.
  void Add(int32_t thread, int32_t site, Space space, uint64_t address, int64_t bytes);
  /// The next access is that of a later thread. After the block's last one, of any.
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
    size_t next = 0;  // of the present thread
  };

  void Count(const Request& request);
  static int64_t Sectors(const Request& request);
  static int64_t BankConflicts(const Request& request);

  std::vector<Site> sites_;
  EmulatedCounts counts_;
};

}  // namespace tunec
