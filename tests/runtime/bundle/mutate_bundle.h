// Bundles that someone changed, anywhere but in their code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/random.h"
#include "tests/runtime/bundle/container.h"

namespace tunec::testing {

class BundleMutator {
 public:
  /// `bundle` is a whole one.
  explicit BundleMutator(const std::string& bundle);

  /// A few changes, with the hashes made right again: of bytes; of numbers anywhere; of what a plan
  /// says, each number with those that are likely to mean something; of the order and the number of
  /// steps, arguments and tensors; of sections; of header and table. Mostly of that variant.
  std::string Change(Random& random, uint32_t variant) const;

  /// One byte is another, anywhere, and the hashes are as they were.
  std::string ChangeByte(Random& random) const;

 private:
  std::string ChangeBytes(Random& random) const;
  std::string ChangePlan(Random& random, uint32_t variant) const;
  std::string ChangeSections(Random& random) const;

  std::string whole_;
  std::vector<RawSection> sections_;
};

}  // namespace tunec::testing
