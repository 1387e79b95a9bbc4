#include "tests/runtime/bundle/mutate_bundle.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "runtime/bundle/stored_plan.h"
#include "runtime/bundle/stored_sizes.h"
#include "support/check.h"
#include "tests/runtime/bundle/change_plan.h"

namespace tunec::testing {
namespace {

using bundle::Header;
using bundle::SectionEntry;
using bundle::SectionKind;

bool IsCode(SectionKind kind) {
  return kind == SectionKind::kCode || kind == SectionKind::kDeviceCode;
}

/// A part of a file that may be changed, in bytes.
struct Range {
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

void ChangeByteIn(std::string& bytes, Range range, Random& random) {
  bytes[range.begin + random.Below(range.bytes)] ^= static_cast<char>(1 + random.Below(255));
}

/// Replaces an 8-byte number at a random position by its Neighbour, or changes one byte if the
/// range is shorter.
void ChangeNumberIn(std::string& bytes, Range range, Random& random) {
  if (range.bytes < sizeof(int64_t)) return ChangeByteIn(bytes, range, random);
  const uint64_t at = range.begin + random.Below(range.bytes - sizeof(int64_t) + 1);
  int64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  value = Neighbour(value, random);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// Returns the bytes of `whole` after up to three changes.
template <class Stored, class ChangeOne>
std::string Changed(Result<Stored> whole, ChangeOne change, Random& random) {
  TUNEC_CHECK(whole.has_value(), "{}", whole.error().Format());
  const uint64_t changes = 1 + random.Below(3);
  for (uint64_t i = 0; i < changes; ++i) change(*whole, random);
  return Serialize(*whole);
}

}  // namespace

BundleMutator::BundleMutator(const std::string& bundle)
    : whole_(bundle), sections_(SectionsOf(bundle)) {}

std::string BundleMutator::ChangeByte(Random& random) const {
  std::string changed = whole_;
  ChangeByteIn(changed, {0, changed.size()}, random);
  return changed;
}

std::string BundleMutator::ChangeBytes(Random& random) const {
  std::string changed = whole_;
  std::vector<SectionEntry> table(sections_.size());
  std::memcpy(table.data(), whole_.data() + sizeof(Header), table.size() * sizeof(SectionEntry));
  std::erase_if(table, [](const SectionEntry& entry) { return IsCode(entry.kind); });
  std::erase_if(table, [](const SectionEntry& entry) { return entry.bytes == 0; });
  const uint64_t changes = 1 + random.Below(3);
  for (uint64_t i = 0; i < changes; ++i) {
    const SectionEntry& target = table[random.Below(table.size())];
    // Some changes are in the header and the table, which do not contain code.
    const bool front = random.Below(8) == 0;
    const Range range = front ? Range{0, sizeof(Header) + sections_.size() * sizeof(SectionEntry)}
                              : Range{target.offset, target.bytes};
    (random.Below(3) == 0 ? ChangeByteIn : ChangeNumberIn)(changed, range, random);
  }
  RepairHashes(changed);
  return changed;
}

std::string BundleMutator::ChangePlan(Random& random, uint32_t variant) const {
  std::vector<RawSection> sections = sections_;
  const auto found = std::ranges::find_if(sections, [&](const RawSection& section) {
    const bool says = section.kind == SectionKind::kPlan || section.kind == SectionKind::kSizes;
    return says && section.variant == variant;
  });
  TUNEC_CHECK(found != sections.end(), "there is no plan {}", variant);
  const std::span bytes = std::as_bytes(std::span(found->bytes));
  const bool sized = found->kind == SectionKind::kSizes;
  found->bytes = sized ? Changed(bundle::ParseSizes(bytes), ChangeSizes, random)
                       : Changed(bundle::ParsePlan(bytes), testing::ChangePlan, random);
  return Container(sections);
}

// Makes one change at most: exchanges the bytes of two sections of one kind or the variants of two
// sections, or removes, truncates or extends a section. Code is not truncated or extended.
std::string BundleMutator::ChangeSections(Random& random) const {
  std::vector<RawSection> sections = sections_;
  RawSection& one = sections[random.Below(sections.size())];
  RawSection& other = sections[random.Below(sections.size())];
  const uint64_t size = one.bytes.size();
  switch (random.Below(IsCode(one.kind) ? 3 : 5)) {
    case 0:
      if (one.kind == other.kind) std::swap(one.bytes, other.bytes);
      break;
    case 1:
      std::swap(one.variant, other.variant);
      break;
    case 2:
      sections.erase(sections.begin() + (&one - sections.data()));
      break;
    case 3:
      one.bytes.resize(random.Below(size + 1));
      break;
    default:
      one.bytes.resize(size + 1 + random.Below(100), static_cast<char>(random.Below(4)));
  }
  return Container(sections);
}

std::string BundleMutator::Change(Random& random, uint32_t variant) const {
  const uint64_t choice = random.Below(16);
  if (choice == 0) return ChangeSections(random);
  return choice < 6 ? ChangeBytes(random) : ChangePlan(random, variant);
}

}  // namespace tunec::testing
