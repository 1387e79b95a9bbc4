// How much memory a piece of work touches.
#pragma once

#include <cstdint>

#include "support/error.h"

namespace tunec {

/// Measures the growth of this process's resident memory beyond what it was when made; pages that
/// were resident before and are used again do not count. Linux only: /proc/self.
class PeakMemory {
 public:
  /// kUnsupported where the system does not tell.
  static Result<PeakMemory> Start();

  /// Bytes, the largest growth since Start.
  Result<int64_t> Growth() const;

 private:
  int64_t before_ = 0;
};

}  // namespace tunec
