// Remembers what was assembled: of candidates that differ in their schedules, some come to the same
// PTX, and ptxas is what takes most of the time.
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

/// Thread-safe. A thread that asks for what another one is just assembling waits for it.
class AssemblyMemo {
 public:
  /// What it remembers at most; the oldest goes first.
  static constexpr size_t kMost = 512;

  explicit AssemblyMemo(Assembler assemble) : assemble_(std::move(assemble)) {}

  /// As the assembler does it. An error is not remembered: it may be an accident of the machine.
  Result<Cubin> Assemble(const Ptxas& ptxas, const std::string& ptx, std::string_view arch);

 private:
  using Answer = std::shared_future<Result<Cubin>>;
  void Forget(const std::string& key);

  const Assembler assemble_;
  std::mutex mutex_;                     // guards what follows
  std::map<std::string, Answer> known_;  // by a hash of the PTX with the arch
  std::deque<std::string> order_;        // of known_, the oldest first
};

}  // namespace tunec
