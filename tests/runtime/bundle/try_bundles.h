// Many changed bundles, tried one after the other.
#pragma once

#include <cstdint>
#include <string>

#include "support/random.h"
#include "tests/runtime/bundle/touch_bundle.h"

namespace tunec::testing {

/// In memory of exactly its size, from a page on.
Touched TryBundle(BundleToucher& toucher, const std::string& bundle, uint32_t variant,
                  Random& random);

struct TriedBundles {
  uint64_t refused = 0;
  uint64_t too_large = 0;
  uint64_t ran = 0;
};
/// So many mutants of `whole`, with right hashes, of each one variant.
TriedBundles TryMutants(BundleToucher& toucher, const std::string& whole, uint64_t count,
                        uint64_t seed);

/// How many of so many bundles with one byte changed and hashes as they were are taken for whole.
uint64_t CountStaleAccepted(const std::string& whole, uint64_t count, uint64_t seed);

}  // namespace tunec::testing
