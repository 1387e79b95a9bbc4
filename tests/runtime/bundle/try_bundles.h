// Functions that try a bundle, or many mutants of a bundle one after the other.
#pragma once

#include <cstdint>
#include <string>

#include "support/random.h"
#include "tests/runtime/bundle/touch_bundle.h"

namespace tunec::testing {

/// Tries one variant of a bundle, in memory of exactly the bundle's size at the start of a page.
Touched TryBundle(BundleToucher& toucher, const std::string& bundle, uint32_t variant,
                  Random& random);

struct TriedBundles {
  uint64_t rejected = 0;
  uint64_t too_large = 0;
  uint64_t ran = 0;
};
/// Tries one variant of each of `count` mutants of `whole` with corrected hashes. Counts the
/// outcomes.
TriedBundles TryMutants(BundleToucher& toucher, const std::string& whole, uint64_t count,
                        uint64_t seed);

/// Returns the number of accepted bundles among `count` bundles with one changed byte. The hashes
/// are not corrected.
uint64_t CountStaleAccepted(const std::string& whole, uint64_t count, uint64_t seed);

}  // namespace tunec::testing
