// Bundles as lists of sections, for tests that write what tunec never would.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/bundle/format.h"

namespace tunec::testing {

struct RawSection {
  bundle::SectionKind kind = bundle::SectionKind::kVariant;
  uint32_t variant = 0;
  std::string bytes;
};

/// A whole bundle with right hashes.
std::string Container(const std::vector<RawSection>& sections);

/// The inverse. Requires: a bundle that Container or tunec wrote.
std::vector<RawSection> SectionsOf(const std::string& bundle);

/// The hashes of bytes that were changed are made right again, as far as the table can be read.
void RepairHashes(std::string& bundle);

}  // namespace tunec::testing
