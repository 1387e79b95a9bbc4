#include "tests/runtime/allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {
std::atomic<int64_t> g_allocations = 0;
}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

bool tunec::CanCountAllocations() { return false; }

#else

bool tunec::CanCountAllocations() { return true; }

extern "C" {
// The allocation functions of glibc. The replacements of malloc, calloc and others call these.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

__attribute__((visibility("default"))) void* malloc(size_t size) noexcept {
  g_allocations.fetch_add(1);
  return __libc_malloc(size);
}
__attribute__((visibility("default"))) void* calloc(size_t count, size_t size) noexcept {
  g_allocations.fetch_add(1);
  return __libc_calloc(count, size);
}
__attribute__((visibility("default"))) void* realloc(void* old, size_t size) noexcept {
  g_allocations.fetch_add(1);
  return __libc_realloc(old, size);
}
__attribute__((visibility("default"))) void* aligned_alloc(size_t alignment, size_t size) noexcept {
  g_allocations.fetch_add(1);
  return __libc_memalign(alignment, size);
}
__attribute__((visibility("default"))) int posix_memalign(void** result, size_t alignment,
                                                          size_t size) noexcept {
  g_allocations.fetch_add(1);
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}
}  // extern "C"

#endif

int64_t tunec::AllocationCount() { return g_allocations.load(); }
