// A class that changes bundles at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/random.h"
#include "tests/runtime/bundle/container.h"

namespace tunec::testing {

class BundleMutator {
 public:
  /// Creates a mutator. Requires a bundle from Container or tunec.
  explicit BundleMutator(const std::string& bundle);

  /// Returns a bundle with corrected hashes and usually a few changes. Most results have changes of
  /// the variant's plan by testing::ChangePlan or ChangeSizes. Others have changed bytes or numbers
  /// outside code, or changed sections.
  std::string Change(Random& random, uint32_t variant) const;

  /// Returns the bundle with one changed byte. The hashes are not corrected.
  std::string ChangeByte(Random& random) const;

 private:
  std::string ChangeBytes(Random& random) const;
  std::string ChangePlan(Random& random, uint32_t variant) const;
  std::string ChangeSections(Random& random) const;

  std::string whole_;
  std::vector<RawSection> sections_;
};

}  // namespace tunec::testing
