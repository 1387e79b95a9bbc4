// The threads of one block, taking turns at barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "jit/cuda/emulate/emulated_thread.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// The blocks of one launch, run one after the other; it keeps the threads' stacks.
class EmulatedBlock {
 public:
  explicit EmulatedBlock(const PhaseLaunch& launch);
  ~EmulatedBlock();
  EmulatedBlock(const EmulatedBlock&) = delete;
  EmulatedBlock& operator=(const EmulatedBlock&) = delete;

  /// Calls `run` once for each thread of the block of that number. Errors: kDevice when threads
  /// wait at different barriers, or at one that others end without.
  Status Run(int32_t number, const std::function<void(EmulatedThread*)>& run);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec
