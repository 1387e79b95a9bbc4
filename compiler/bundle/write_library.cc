#include "compiler/bundle/write_library.h"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/bundle/format.h"

namespace tunec {
namespace {

/// The start of the placeholder for the model's name, the character that fills the placeholder, and
/// the name of the bundle's section. They are the same as in api/shared/model.cc.
constexpr std::string_view kSymbolPrefix = "tunec_model_name_";
constexpr char kSymbolPadding = 'x';
constexpr std::string_view kBundleSection = ".tunec_bundle";

std::unexpected<Error> NoTemplate(std::string_view what) {
  return Fail(ErrorCode::kInternal, "the library's template has {}", what);
}

std::unexpected<Error> TooLong(std::string_view name, size_t most) {
  return Fail(ErrorCode::kInvalidArgument, "the name '{}' has {} characters, expected at most {}",
              name, name.size(), most);
}

/// A shared library (ELF) in memory. Its names can be changed, and space for a bundle can be added.
class Library {
 public:
  static Result<Library> Read(std::span<const std::byte> bytes);

  /// Renames the functions of the template to those of the model.
  Status NameFunctions(std::string_view model);
  Status NameItself(const std::string& file);
  /// Rebuilds the hash table of symbol names.
  Status HashSymbols();
  /// Moves the last segment to the end of the file, with the bundle's size, and returns the new
  /// offset. The table of sections moves behind the bundle.
  Result<uint64_t> ReserveBundle(uint64_t bytes);

  const std::string& front() const { return bytes_; }
  std::span<const std::byte> back() const { return std::as_bytes(std::span(sections_)); }
  uint64_t back_offset() const { return header_.e_shoff; }

 private:
  template <class T>
  T At(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> Table(uint64_t offset, size_t count) const {
    std::vector<T> table(count);
    std::memcpy(table.data(), bytes_.data() + offset, count * sizeof(T));
    return table;
  }
  template <class T>
  void Write(uint64_t offset, const std::vector<T>& table) {
    std::memcpy(bytes_.data() + offset, table.data(), table.size() * sizeof(T));
  }
  bool Contains(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  Result<Elf64_Shdr*> SectionOf(uint32_t type);
  Result<Elf64_Shdr*> SectionNamed(std::string_view name);
  std::string_view TextAt(const Elf64_Shdr& texts, uint64_t offset) const {
    return bytes_.data() + texts.sh_offset + offset;
  }
  Status Rename(uint64_t offset, std::string_view from, std::string_view to);

  std::string bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
};

Result<Library> Library::Read(std::span<const std::byte> bytes) {
  Library library;
  library.bytes_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.size() < sizeof(Elf64_Ehdr)) return NoTemplate("no header");
  library.header_ = library.At<Elf64_Ehdr>(0);
  const Elf64_Ehdr& header = library.header_;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_X86_64 ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_phentsize != sizeof(Elf64_Phdr) ||
      !library.Contains(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)) ||
      !library.Contains(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr))) {
    return NoTemplate("another header");
  }
  library.sections_ = library.Table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr& section : library.sections_)
    if (section.sh_type != SHT_NOBITS && !library.Contains(section.sh_offset, section.sh_size))
      return NoTemplate("a section outside");
  return library;
}

Result<Elf64_Shdr*> Library::SectionOf(uint32_t type) {
  const auto found = std::ranges::find(sections_, type, &Elf64_Shdr::sh_type);
  if (found == sections_.end()) return NoTemplate("no such section");
  return &*found;
}

Result<Elf64_Shdr*> Library::SectionNamed(std::string_view name) {
  const Elf64_Shdr names = sections_[header_.e_shstrndx];
  const auto found = std::ranges::find_if(
      sections_, [&](const Elf64_Shdr& section) { return TextAt(names, section.sh_name) == name; });
  if (found == sections_.end()) return NoTemplate("no place for a bundle");
  return &*found;
}

// Replaces the text `from` at this offset. Fails with kInvalidArgument if `to` is longer.
Status Library::Rename(uint64_t offset, std::string_view from, std::string_view to) {
  if (to.size() > from.size()) return TooLong(to, from.size());
  std::memset(bytes_.data() + offset, 0, from.size());
  std::memcpy(bytes_.data() + offset, to.data(), to.size());
  return {};
}

Status Library::NameFunctions(std::string_view model) {
  TUNEC_ASSIGN(const Elf64_Shdr* const symbols, SectionOf(SHT_DYNSYM));
  const Elf64_Shdr& texts = sections_[symbols->sh_link];
  size_t renamed = 0;
  for (const auto& symbol :
       Table<Elf64_Sym>(symbols->sh_offset, symbols->sh_size / sizeof(Elf64_Sym))) {
    const std::string old(TextAt(texts, symbol.st_name));
    if (!old.starts_with(kSymbolPrefix)) continue;
    const size_t end = old.find_first_not_of(kSymbolPadding, kSymbolPrefix.size());
    if (end == std::string::npos) return NoTemplate("a function without a name");
    if (model.size() > end) return TooLong(model, end);
    TUNEC_RETURN_IF_ERROR(
        Rename(texts.sh_offset + symbol.st_name, old, std::string(model) + old.substr(end)));
    ++renamed;
  }
  return renamed > 0 ? Status() : NoTemplate("no functions");
}

Status Library::NameItself(const std::string& file) {
  TUNEC_ASSIGN(const Elf64_Shdr* const dynamic, SectionOf(SHT_DYNAMIC));
  const Elf64_Shdr& texts = sections_[dynamic->sh_link];
  for (const auto& entry :
       Table<Elf64_Dyn>(dynamic->sh_offset, dynamic->sh_size / sizeof(Elf64_Dyn))) {
    if (entry.d_tag != DT_SONAME) continue;
    const std::string old(TextAt(texts, entry.d_un.d_val));
    return Rename(texts.sh_offset + entry.d_un.d_val, old, file);
  }
  return NoTemplate("no name");
}

// Returns the hash of a symbol's name as in the System V ABI, chapter 5.
uint32_t HashOfSymbol(std::string_view name) {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const uint32_t high = hash & 0xf0000000;
    hash ^= high >> 24;
    hash &= ~high;
  }
  return hash;
}

Status Library::HashSymbols() {
  TUNEC_ASSIGN(const Elf64_Shdr* const hash, SectionOf(SHT_HASH));
  const Elf64_Shdr& symbols = sections_[hash->sh_link];
  const Elf64_Shdr& texts = sections_[symbols.sh_link];
  auto table = Table<uint32_t>(hash->sh_offset, hash->sh_size / sizeof(uint32_t));
  if (table.size() < 2 || table.size() != size_t{2} + table[0] + table[1] || table[0] == 0)
    return NoTemplate("another table of symbols");
  const auto names = Table<Elf64_Sym>(symbols.sh_offset, table[1]);
  const std::span buckets = std::span(table).subspan(2, table[0]);
  const std::span chains = std::span(table).subspan(2 + table[0]);
  std::ranges::fill(buckets, STN_UNDEF);
  std::ranges::fill(chains, STN_UNDEF);
  for (uint32_t i = 1; i < names.size(); ++i) {
    uint32_t& first = buckets[HashOfSymbol(TextAt(texts, names[i].st_name)) % buckets.size()];
    chains[i] = std::exchange(first, i);
  }
  Write(hash->sh_offset, table);
  return {};
}

Result<uint64_t> Library::ReserveBundle(uint64_t bytes) {
  TUNEC_ASSIGN(Elf64_Shdr* const section, SectionNamed(kBundleSection));
  auto segments = Table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum);
  const auto segment = std::ranges::find_if(segments, [&](const Elf64_Phdr& candidate) {
    return candidate.p_type == PT_LOAD && candidate.p_vaddr == section->sh_addr;
  });
  const auto later = [&](const Elf64_Phdr& other) {
    return other.p_type == PT_LOAD && other.p_vaddr > section->sh_addr;
  };
  if (segment == segments.end() || std::ranges::any_of(segments, later))
    return NoTemplate("no last segment for a bundle");
  // The template's own bytes of this segment stay in the file and are unused.
  const uint64_t offset = bundle::AlignUp(bytes_.size(), bundle::kPage);
  segment->p_offset = section->sh_offset = offset;
  segment->p_filesz = segment->p_memsz = section->sh_size = bytes;
  header_.e_shoff = bundle::AlignUp(offset + bytes, alignof(Elf64_Shdr));
  Write(header_.e_phoff, segments);
  Write(0, std::vector{header_});
  return offset;
}

}  // namespace

std::string ModelNameOf(const std::filesystem::path& library) {
  std::string name = library.filename().string();
  name = name.substr(0, name.find('.'));
  if (name.starts_with("lib") && name.size() > 3) name.erase(0, 3);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  const bool is_word = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  return is_word ? name : "model_" + name;
}

Status WriteLibrary(const std::filesystem::path& path, std::span<const std::byte> library_template,
                    std::string_view model, const BundleParts& bundle) {
  TUNEC_ASSIGN(Library library, Library::Read(library_template));
  TUNEC_RETURN_IF_ERROR(library.NameFunctions(model));
  TUNEC_RETURN_IF_ERROR(library.NameItself(path.filename().string()));
  TUNEC_RETURN_IF_ERROR(library.HashSymbols());
  TUNEC_ASSIGN(const uint64_t begin, library.ReserveBundle(bundle.bytes));
  std::vector<FilePart> parts{{.offset = 0, .bytes = std::as_bytes(std::span(library.front()))}};
  for (const FilePart& part : bundle.parts)
    parts.push_back({.offset = static_cast<int64_t>(begin) + part.offset, .bytes = part.bytes});
  parts.push_back({.offset = static_cast<int64_t>(library.back_offset()), .bytes = library.back()});
  return WriteFileAtomically(path, parts);
}

}  // namespace tunec
