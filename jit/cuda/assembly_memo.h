// A cache of assembled code. Some candidates with different schedules have the same PTX, and ptxas
// takes most of the compile time.
#pragma once

#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "jit/cuda/ptxas.h"
#include "support/error.h"

namespace tunec {

/// A thread-safe cache of the cubins that an assembler returns. A thread that requests a cubin that
/// another thread is assembling waits for the result.
class AssemblyMemo {
 public:
  /// The maximum number of entries. The oldest entry is evicted first.
  static constexpr size_t kMost = 512;

  explicit AssemblyMemo(Assembler assemble) : assemble_(std::move(assemble)) {}

  /// Calls the assembler, or returns the cached result. Errors are evicted at once, since they may
  /// be temporary.
  Result<Cubin> Assemble(const Ptxas& ptxas, const std::string& ptx, std::string_view arch);

 private:
  using Answer = std::shared_future<Result<Cubin>>;
  void Forget(const std::string& key);

  const Assembler assemble_;
  std::mutex mutex_;                     // guards the members below
  std::map<std::string, Answer> known_;  // by a hash of the PTX with the arch
  std::deque<std::string> order_;        // keys of known_, oldest first
};

}  // namespace tunec
