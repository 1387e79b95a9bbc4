// Blocks of memory, aligned for the widest vectors. Large blocks request huge pages.
#pragma once

#include <cstddef>
#include <utility>

#include "support/error.h"

namespace tunec {

/// A block of bytes, aligned to 64 bytes. Blocks of a page or more are aligned to a page. Blocks of
/// 2 MiB or more are aligned to 2 MiB, occupy multiples of 2 MiB and request huge pages from the
/// system. With huge pages, reading a matrix by columns causes up to 512 times fewer TLB misses.
class Buffer {
 public:
  static constexpr size_t kAlignment = 64;

  Buffer() = default;
  /// Allocates a block. The bytes are not cleared. Fails with kResourceLimit if `bytes` exceeds
  /// 2^47 or if the system does not provide the memory.
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

/// Frees the whole pages within these bytes of a Buffer; their contents are lost. The function is
/// for an unused part of a block that stays allocated.
void DiscardPages(std::byte* data, size_t bytes);

}  // namespace tunec
