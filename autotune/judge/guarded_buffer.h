// Memory for one argument of a kernel under test, between two zones that nobody may write.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/buffer.h"
#include "support/error.h"

namespace tunec {

class GuardedBuffer {
 public:
  /// The data is page-aligned and not cleared; the guard zones hold a pattern.
  static Result<GuardedBuffer> Allocate(size_t bytes);

  std::byte* data() { return buffer_.data() + kZone; }
  const std::byte* data() const { return buffer_.data() + kZone; }
  size_t size() const { return size_; }
  std::span<std::byte> bytes() { return {data(), size_}; }

  /// Fills the data with 0xff bytes: NaN in every float type, -1 or the largest value in others.
  void Poison();
  /// Where the guards were written: bytes before (negative) or after the data; 0 if intact.
  ptrdiff_t Overrun() const;

 private:
  static constexpr size_t kZone = 4096;
  Buffer buffer_;
  size_t size_ = 0;
};

}  // namespace tunec
