#include "tests/runtime/bundle/container.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "runtime/bundle/section_hash.h"

namespace tunec::testing {
namespace {

using bundle::Header;
using bundle::SectionEntry;

uint64_t HashOfBytes(const std::string& bytes, uint64_t begin, uint64_t size) {
  static ThreadPool pool(1);
  return bundle::HashOf(std::as_bytes(std::span(bytes)).subspan(begin, size), pool);
}

Header HeaderOf(const std::string& bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

}  // namespace

std::string Container(const std::vector<RawSection>& sections) {
  std::string bytes(sizeof(Header) + sections.size() * sizeof(SectionEntry), '\0');
  for (size_t i = 0; i < sections.size(); ++i) {
    const RawSection& section = sections[i];
    bytes.resize(bundle::AlignUp(bytes.size(), bundle::AlignmentOf(section.kind)));
    const SectionEntry entry{.kind = section.kind,
                             .variant = section.variant,
                             .offset = bytes.size(),
                             .bytes = section.bytes.size()};
    std::memcpy(bytes.data() + sizeof(Header) + i * sizeof entry, &entry, sizeof entry);
    bytes += section.bytes;
  }
  const Header header{.sections = static_cast<uint32_t>(sections.size()),
                      .file_bytes = bytes.size()};
  std::memcpy(bytes.data(), &header, sizeof header);
  RepairHashes(bytes);
  return bytes;
}

std::vector<RawSection> SectionsOf(const std::string& bundle) {
  std::vector<SectionEntry> table(HeaderOf(bundle).sections);
  std::memcpy(table.data(), bundle.data() + sizeof(Header), table.size() * sizeof(SectionEntry));
  std::vector<RawSection> sections;
  for (const SectionEntry& entry : table)
    sections.push_back({entry.kind, entry.variant, bundle.substr(entry.offset, entry.bytes)});
  return sections;
}

void RepairHashes(std::string& bundle) {
  Header header = HeaderOf(bundle);
  const size_t room = (bundle.size() - sizeof header) / sizeof(SectionEntry);
  const size_t sections = std::min<size_t>(header.sections, room);
  for (size_t i = 0; i < sections; ++i) {
    SectionEntry section;
    char* const entry = bundle.data() + sizeof header + i * sizeof section;
    std::memcpy(&section, entry, sizeof section);
    if (section.offset > bundle.size() || section.bytes > bundle.size() - section.offset) continue;
    section.hash = HashOfBytes(bundle, section.offset, section.bytes);
    std::memcpy(entry, &section, sizeof section);
  }
  header.table_hash = 0;
  std::memcpy(bundle.data(), &header, sizeof header);
  header.table_hash = HashOfBytes(bundle, 0, sizeof header + sections * sizeof(SectionEntry));
  std::memcpy(bundle.data(), &header, sizeof header);
}

}  // namespace tunec::testing
