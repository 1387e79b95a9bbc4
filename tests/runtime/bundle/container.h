// Functions that split bundles into sections and build bundles from sections. Tests can thus build
// bundles that tunec never writes.
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

/// Returns a bundle of these sections with right hashes.
std::string Container(const std::vector<RawSection>& sections);

/// Returns the sections of a bundle. Requires a bundle from Container or tunec.
std::vector<RawSection> SectionsOf(const std::string& bundle);

/// Corrects the hashes of the table and of all listed sections that are within the bundle.
void RepairHashes(std::string& bundle);

}  // namespace tunec::testing
