/* A preloaded library that counts the process's allocations for
 * tests/python/test_allocations.py. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* old, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static atomic_ulong calls;
static atomic_ulong bytes;
static atomic_ulong largest;

static void Note(size_t size) {
  atomic_fetch_add(&calls, 1);
  atomic_fetch_add(&bytes, size);
  if (size > atomic_load(&largest)) atomic_store(&largest, size);
}

void* malloc(size_t size) {
  Note(size);
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  Note(count * size);
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  Note(size);
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  Note(size);
  return __libc_memalign(alignment, size);
}
void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = aligned_alloc(alignment, size);
  return *out == NULL ? 12 : 0;
}

/* Stores the number of allocations, their bytes, and the bytes of the largest one. Resets the
 * counters. */
void take_counts(unsigned long counts[3]) {
  counts[0] = atomic_exchange(&calls, 0);
  counts[1] = atomic_exchange(&bytes, 0);
  counts[2] = atomic_exchange(&largest, 0);
}
