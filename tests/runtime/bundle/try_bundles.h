// Functions that try many mutated bundles one after the other.
#pragma once

#include <cstdint>
#include <string>

#include "support/random.h"
#include "tests/runtime/bundle/touch_bundle.h"

namespace tunec::testing {

/// Runs a bundle in memory of exactly its size, at the start of a page.
Touched TryBundle(BundleToucher& toucher, const std::string& bundle, uint32_t variant,
                  Random& random);

struct TriedBundles {
  uint64_t rejected = 0;
  uint64_t too_large = 0;
  uint64_t ran = 0;
};
/// Runs one variant of each of `count` mutants of `whole` with right hashes. Counts the outcomes.
TriedBundles TryMutants(BundleToucher& toucher, const std::string& whole, uint64_t count,
                        uint64_t seed);

/// Returns the number of accepted bundles among `count` bundles with one changed byte and unchanged
/// hashes.
uint64_t CountStaleAccepted(const std::string& whole, uint64_t count, uint64_t seed);

}  // namespace tunec::testing
