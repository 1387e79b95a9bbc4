// Memory that the runtime owns: aligned for the widest vectors, on huge pages when large.
#pragma once

#include <cstddef>
#include <utility>

#include "support/error.h"

namespace tunec {

/// A block of bytes. Aligned to 64, from one page on to a page, from 2 MiB on to 2 MiB and with
/// huge pages asked for, the last one whole, too (a matrix walked by columns then misses the TLB
/// 512 times less).
class Buffer {
 public:
  static constexpr size_t kAlignment = 64;

  Buffer() = default;
  /// The bytes are not cleared. kResourceLimit without memory.
  static Result<Buffer> Allocate(size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Gives the whole pages within these bytes of a Buffer back to the system: what they held is gone.
/// For a part that nobody uses any more of a block that stays.
void DiscardPages(std::byte* data, size_t bytes);

}  // namespace tunec
