#include "runtime/bundle/bundle_file.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/bundle/section_hash.h"

namespace tunec::bundle {
namespace {

template <class... Args>
std::unexpected<Error> Damaged(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kParse, "the bundle is damaged: {}",
              fmt::format(format, std::forward<Args>(args)...));
}

// Reads the header. Checks the magic, the version and the sizes. After success, the file is large
// enough for the table.
Result<Header> ReadHeader(std::span<const std::byte> file) {
  Header header;
  if (file.size() < sizeof header) return Damaged("it has {} bytes", file.size());
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != kMagic) return Fail(ErrorCode::kParse, "not a tunec bundle");
  if (header.version < kVersion)
    return Fail(ErrorCode::kUnsupported,
                "the bundle is of version {}, this tunec reads version {}: build it again",
                header.version, kVersion);
  if (header.version > kVersion)
    return Fail(ErrorCode::kUnsupported,
                "the bundle is of version {}, this tunec reads version {}: a newer tunec made it",
                header.version, kVersion);
  if (header.file_bytes != file.size())
    return Damaged("it has {} bytes, expected {}", file.size(), header.file_bytes);
  const uint64_t table_bytes = uint64_t{header.sections} * sizeof(SectionEntry);
  if (header.sections > kMostSections || table_bytes > file.size() - sizeof header)
    return Damaged("it has {} sections", header.sections);
  return header;
}

// Returns the table after checks of its hash and of the header's reserved bytes. The table is
// copied first, so that the used bytes are the hashed bytes.
Result<std::vector<SectionEntry>> ReadTable(std::span<const std::byte> file, Header header,
                                            ThreadPool& pool) {
  const size_t table_bytes = header.sections * sizeof(SectionEntry);
  std::string bytes(sizeof header + table_bytes, '\0');
  const uint64_t expected = std::exchange(header.table_hash, 0);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (table_bytes > 0)
    std::memcpy(bytes.data() + sizeof header, file.data() + sizeof header, table_bytes);
  if (HashOf(std::as_bytes(std::span(bytes)), pool) != expected)
    return Damaged("its table has another hash");
  if (std::ranges::any_of(header.reserved, [](uint64_t word) { return word != 0; }))
    return Damaged("reserved bytes of its header are not zero");
  std::vector<SectionEntry> table(header.sections);
  if (table_bytes > 0) std::memcpy(table.data(), bytes.data() + sizeof header, table_bytes);
  return table;
}

bool IsKnown(SectionKind kind) {
  return kind >= SectionKind::kVariant && kind <= SectionKind::kSizes;
}

// Checks the kind, the variant, the offset and the size of a section. Also checks that the bytes
// from `end`, the end of the table or of the previous section, to the section are zero.
Status CheckSection(std::span<const std::byte> file, const SectionEntry& section, uint64_t end) {
  if (!IsKnown(section.kind) || section.variant >= kMostSections)
    return Damaged("it has a section of kind {} and variant {}",
                   static_cast<uint32_t>(section.kind), section.variant);
  const bool within =
      section.offset <= file.size() && section.bytes <= file.size() - section.offset;
  if (section.offset != AlignUp(end, AlignmentOf(section.kind)) || !within)
    return Damaged("a section of {} bytes begins at {}", section.bytes, section.offset);
  const auto gap = file.subspan(end, section.offset - end);
  if (std::ranges::any_of(gap, [](std::byte byte) { return byte != std::byte{0}; }))
    return Damaged("bytes between its sections are not zero");
  return {};
}

// Checks the set of sections: there are weights and variants, the numbers of variants have no gaps,
// each variant has the required sections, and no section occurs twice. Returns the number of
// variants.
Result<uint32_t> CountVariants(const std::vector<SectionEntry>& sections) {
  const auto count = [&](SectionKind kind, uint32_t variant) {
    return std::ranges::count_if(sections, [&](const SectionEntry& section) {
      return section.kind == kind && section.variant == variant;
    });
  };
  uint32_t variants = 0;
  for (const SectionEntry& section : sections) {
    if (count(section.kind, section.variant) != 1)
      return Damaged("it has a section of kind {} twice", static_cast<uint32_t>(section.kind));
    variants = std::max(variants, section.variant + 1);
  }
  for (uint32_t variant = 0; variant < variants; ++variant) {
    const auto plans = count(SectionKind::kPlan, variant) + count(SectionKind::kSizes, variant);
    if (plans != 1 || count(SectionKind::kVariant, variant) != 1 ||
        count(SectionKind::kCode, variant) != 1)
      return Damaged("variant {} is not whole", variant);
  }
  if (variants == 0 || count(SectionKind::kWeights, 0) != 1) return Damaged("it holds no model");
  return variants;
}

}  // namespace

bool IsBundle(std::string_view bytes) {
  return bytes.starts_with(std::string_view(kMagic.data(), kMagic.size()));
}

Result<std::vector<SectionEntry>> CheckSections(std::span<const std::byte> file, ThreadPool& pool) {
  TUNEC_ASSIGN(const Header header, ReadHeader(file));
  TUNEC_ASSIGN(std::vector<SectionEntry> table, ReadTable(file, header, pool));
  uint64_t end = sizeof header + table.size() * sizeof(SectionEntry);
  for (const SectionEntry& section : table) {
    TUNEC_RETURN_IF_ERROR(CheckSection(file, section, end));
    end = section.offset + section.bytes;
  }
  if (end != file.size()) return Damaged("{} bytes stand behind its end", file.size() - end);
  for (const SectionEntry& section : table)
    if (HashOf(file.subspan(section.offset, section.bytes), pool) != section.hash)
      return Damaged("the section of {} bytes at {} has another hash", section.bytes,
                     section.offset);
  return table;
}

Result<BundleFile> BundleFile::Open(const std::filesystem::path& path, ThreadPool& pool) {
  TUNEC_ASSIGN(const auto file, WatchedFile::Open(path));
  Result<BundleFile> bundle = Read({.bytes = file->bytes(), .owner = file}, pool);
  if (!bundle) {
    bundle.error().message = fmt::format("{}: {}", path.string(), bundle.error().message);
    return bundle;
  }
  bundle->file_ = file;
  return bundle;
}

Result<BundleFile> BundleFile::Read(BundleBytes bytes, ThreadPool& pool) {
  BundleFile bundle;
  bundle.memory_ = std::move(bytes);
  TUNEC_ASSIGN(bundle.sections_, CheckSections(bundle.bytes(), pool));
  TUNEC_ASSIGN(bundle.variants_, CountVariants(bundle.sections_));
  return bundle;
}

Result<std::vector<std::byte>> BundleFile::Copy(SectionKind kind, uint32_t variant) const {
  TUNEC_ASSIGN(const auto bytes, Section(kind, variant));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

bool BundleFile::Has(SectionKind kind, uint32_t variant) const {
  return std::ranges::any_of(sections_, [&](const SectionEntry& section) {
    return section.kind == kind && section.variant == variant;
  });
}

Result<std::span<const std::byte>> BundleFile::Section(SectionKind kind, uint32_t variant) const {
  for (const SectionEntry& section : sections_)
    if (section.kind == kind && section.variant == variant)
      return bytes().subspan(section.offset, section.bytes);
  return Damaged("it lacks a section of kind {}", static_cast<uint32_t>(kind));
}

}  // namespace tunec::bundle
