#include "runtime/buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace tunec {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
// Largest size of a buffer in bytes: the address space of a process.
constexpr size_t kLimit = size_t{1} << 47;

// Returns the unit to which a buffer's start and end are rounded. Without the rounding, an
// incomplete last huge page would become hundreds of small pages.
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
  // The call is only advice: the buffer also works without transparent huge pages.
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
  // A failure is ignored: pages that are not freed now are freed with the block.
  (void)madvise(data + (first - begin), end - first, MADV_DONTNEED);
}

}  // namespace tunec
