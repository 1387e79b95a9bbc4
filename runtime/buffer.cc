#include "runtime/buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace tunec {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
// Above every address space; the sanitizers' malloc would stop the program.
constexpr size_t kLimit = size_t{1} << 47;

// What the buffer begins and ends at. A last huge page that is not whole would be hundreds of
// pages.
size_t GranuleFor(size_t bytes) {
  if (bytes >= kHugePage) return kHugePage;
  return bytes >= kPage ? kPage : Buffer::kAlignment;
}

}  // namespace

Result<Buffer> Buffer::Allocate(size_t bytes) {
  Buffer buffer;
  if (bytes == 0) return buffer;
  const size_t granule = GranuleFor(bytes);
  if (bytes > kLimit) return Fail(ErrorCode::kResourceLimit, "cannot allocate {} bytes", bytes);
  const size_t rounded = (bytes + granule - 1) / granule * granule;
  void* data = nullptr;
  if (posix_memalign(&data, granule, rounded) != 0)
    return Fail(ErrorCode::kResourceLimit, "cannot allocate {} bytes", bytes);
  // Only advice: without transparent huge pages the buffer works all the same.
  if (bytes >= kHugePage) (void)madvise(data, rounded, MADV_HUGEPAGE);
  buffer.data_ = static_cast<std::byte*>(data);
  buffer.size_ = bytes;
  return buffer;
}

Buffer::~Buffer() { std::free(data_); }

void DiscardPages(std::byte* data, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const uintptr_t end = (begin + bytes) / kPage * kPage;
  if (first >= end) return;
  // Only advice: what is not taken back now goes with the block.
  (void)madvise(data + (first - begin), end - first, MADV_DONTNEED);
}

}  // namespace tunec
