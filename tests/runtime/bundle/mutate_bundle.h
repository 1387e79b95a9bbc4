// A class that changes bundles at random. Bundles with corrected hashes have no changed code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/random.h"
#include "tests/runtime/bundle/container.h"

namespace tunec::testing {

class BundleMutator {
 public:
  /// Creates a mutator. `bundle` must be complete.
  explicit BundleMutator(const std::string& bundle);

  /// Returns a bundle with a few changes and corrected hashes. Most results have changes of the
  /// variant's plan by ChangePlan or ChangeSizes. Others have changed bytes or numbers anywhere
  /// except in code, or an exchanged, removed, truncated or extended section.
  std::string Change(Random& random, uint32_t variant) const;

  /// Returns a bundle with one changed byte and unchanged hashes.
  std::string ChangeByte(Random& random) const;

 private:
  std::string ChangeBytes(Random& random) const;
  std::string ChangePlan(Random& random, uint32_t variant) const;
  std::string ChangeSections(Random& random) const;

  std::string whole_;
  std::vector<RawSection> sections_;
};

}  // namespace tunec::testing
