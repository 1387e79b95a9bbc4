// The hash of bytes of a bundle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/thread_pool.h"

namespace tunec::bundle {

/// Returns the XXH3 hash of the XXH3 hashes of all blocks of 1 MiB; the last block may be shorter.
/// The pool's threads share the blocks. The hash detects damage, but not manipulation.
uint64_t HashOf(std::span<const std::byte> bytes, ThreadPool& pool);

}  // namespace tunec::bundle
