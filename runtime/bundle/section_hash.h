// The hash of a section's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/thread_pool.h"

namespace tunec::bundle {

/// Returns XXH3 of the hashes of the section's blocks of 1 MiB, so that the pool's threads share
/// the work. The hash detects damage, but not manipulation: anyone can compute it again.
uint64_t HashOf(std::span<const std::byte> bytes, ThreadPool& pool);

}  // namespace tunec::bundle
