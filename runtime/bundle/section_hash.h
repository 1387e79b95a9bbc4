// The hash of a section's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/thread_pool.h"

namespace tunec::bundle {

/// XXH3 of the hashes of its pieces of a MiB, so that the pool's threads share the work. Finds
/// damage; who wants to deceive can make it right again.
uint64_t HashOf(std::span<const std::byte> bytes, ThreadPool& pool);

}  // namespace tunec::bundle
