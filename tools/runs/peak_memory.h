// A class that measures the growth of resident memory during an operation.
#pragma once

#include <cstdint>

#include "support/error.h"

namespace tunec {

/// A measurement of the growth of this process's resident memory since Start. Pages that were
/// resident before and are reused do not count. Linux only: /proc/self.
class PeakMemory {
 public:
  /// Starts a measurement. Returns kUnsupported if the system does not support measurements.
  static Result<PeakMemory> Start();

  /// Returns the largest growth since Start in bytes.
  Result<int64_t> Growth() const;

 private:
  int64_t before_ = 0;
};

}  // namespace tunec
