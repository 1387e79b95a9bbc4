#include "jit/cpu/link_image.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace tunec {
namespace {

using llvm::object::ELF64LE;
using Elf = llvm::object::ELFFile<ELF64LE>;

std::unexpected<Error> NoObject(llvm::Error error) {
  return Fail(ErrorCode::kParse, "not an object of the host: {}", llvm::toString(std::move(error)));
}

template <class T>
Result<T> Taken(llvm::Expected<T> value) {
  if (!value) return NoObject(value.takeError());
  return *std::move(value);
}

/// A linker that adds one object to the image.
class ObjectLinker {
 public:
  ObjectLinker(const Elf& elf, Elf::Elf_Shdr_Range sections, std::string& image)
      : elf_(elf),
        sections_(sections),
        image_(image),
        section_offsets_(sections.size(), kNowhere) {}

  Result<FunctionOffsets> Run() {
    TUNEC_RETURN_IF_ERROR(LayOutSections());
    TUNEC_RETURN_IF_ERROR(ReadSymbols());
    for (const auto& section : sections_)
      if (section.sh_type == llvm::ELF::SHT_RELA) TUNEC_RETURN_IF_ERROR(Relocate(section));
    return CollectFunctions();
  }

 private:
  static constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

  Status LayOutSections();
  Status ReadSymbols();
  Status Relocate(const Elf::Elf_Shdr& section);
  Status Apply(const Elf::Elf_Rela& relocation, uint64_t offset, uint64_t bytes);
  Result<uint64_t> AddressOf(const Elf::Elf_Sym& symbol) const;
  Result<FunctionOffsets> CollectFunctions() const;

  const Elf& elf_;
  Elf::Elf_Shdr_Range sections_;
  std::string& image_;
  std::vector<uint64_t> section_offsets_;  // offset of each section in the image, or kNowhere
  const Elf::Elf_Shdr* symbol_table_ = nullptr;
  Elf::Elf_Sym_Range symbols_;
};

Status ObjectLinker::LayOutSections() {
  constexpr uint64_t kCacheLine = 64;
  for (size_t i = 0; i < sections_.size(); ++i) {
    const auto& section = sections_[i];
    if ((section.sh_flags & llvm::ELF::SHF_ALLOC) == 0 || section.sh_size == 0) continue;
    if ((section.sh_flags & (llvm::ELF::SHF_WRITE | llvm::ELF::SHF_TLS)) != 0 ||
        section.sh_type == llvm::ELF::SHT_NOBITS || section.sh_addralign > 4096)
      return Fail(ErrorCode::kUnsupported, "the kernel has data that is not constant");
    TUNEC_ASSIGN(const auto contents, Taken(elf_.getSectionContents(section)));
    const uint64_t alignment = std::max<uint64_t>(section.sh_addralign, kCacheLine);
    section_offsets_[i] = (image_.size() + alignment - 1) / alignment * alignment;
    image_.resize(section_offsets_[i]);
    image_.append(reinterpret_cast<const char*>(contents.data()), contents.size());
  }
  return {};
}

Status ObjectLinker::ReadSymbols() {
  for (const auto& section : sections_)
    if (section.sh_type == llvm::ELF::SHT_SYMTAB) symbol_table_ = &section;
  if (symbol_table_ == nullptr) return Fail(ErrorCode::kParse, "the kernel has no symbols");
  TUNEC_ASSIGN(symbols_, Taken(elf_.symbols(symbol_table_)));
  return {};
}

Result<uint64_t> ObjectLinker::AddressOf(const Elf::Elf_Sym& symbol) const {
  const uint32_t section = symbol.st_shndx;
  if (section >= section_offsets_.size() || section_offsets_[section] == kNowhere)
    return Fail(ErrorCode::kUnsupported, "the kernel refers to a symbol outside itself");
  return section_offsets_[section] + symbol.st_value;
}

Status ObjectLinker::Relocate(const Elf::Elf_Shdr& section) {
  if (section.sh_info >= section_offsets_.size())
    return Fail(ErrorCode::kParse, "the kernel has relocations for a missing section");
  const uint64_t offset = section_offsets_[section.sh_info];
  if (offset == kNowhere)
    return {};  // relocations of a section that is not run, such as debug information
  TUNEC_ASSIGN(const auto relocations, Taken(elf_.relas(section)));
  for (const auto& relocation : relocations)
    TUNEC_RETURN_IF_ERROR(Apply(relocation, offset, sections_[section.sh_info].sh_size));
  return {};
}

Status ObjectLinker::Apply(const Elf::Elf_Rela& relocation, uint64_t offset, uint64_t bytes) {
  const uint32_t type = relocation.getType(false);
  const bool near = type == llvm::ELF::R_X86_64_PC32 || type == llvm::ELF::R_X86_64_PLT32;
  if (!near && type != llvm::ELF::R_X86_64_PC64)
    return Fail(ErrorCode::kUnsupported,
                "the kernel is not position-independent: relocation of type {}", type);
  const uint32_t number = relocation.getSymbol(false);
  const size_t width = near ? 4 : 8;
  if (number >= symbols_.size() || relocation.r_offset > bytes ||
      width > bytes - relocation.r_offset)
    return Fail(ErrorCode::kParse, "the kernel's relocations are damaged");
  TUNEC_ASSIGN(const uint64_t target, AddressOf(symbols_[number]));
  const uint64_t here = offset + relocation.r_offset;
  const auto distance = static_cast<int64_t>(target + relocation.r_addend - here);
  if (near && !std::in_range<int32_t>(distance))
    return Fail(ErrorCode::kUnsupported, "the image of the code is larger than 2 GiB");
  std::memcpy(image_.data() + here, &distance, width);  // little endian: the low bytes come first
  return {};
}

Result<FunctionOffsets> ObjectLinker::CollectFunctions() const {
  TUNEC_ASSIGN(const auto names, Taken(elf_.getStringTableForSymtab(*symbol_table_, sections_)));
  FunctionOffsets functions;
  for (const auto& symbol : symbols_) {
    if (symbol.getType() != llvm::ELF::STT_FUNC) continue;
    TUNEC_ASSIGN(const auto name, Taken(symbol.getName(names)));
    TUNEC_ASSIGN(functions[name.str()], AddressOf(symbol));
  }
  return functions;
}

}  // namespace

Result<FunctionOffsets> CodeImage::Add(std::string_view object) {
  TUNEC_ASSIGN(const Elf elf, Taken(Elf::create({object.data(), object.size()})));
  const auto& header = elf.getHeader();
  if (!header.checkMagic() || header.e_machine != llvm::ELF::EM_X86_64 ||
      header.e_type != llvm::ELF::ET_REL)
    return Fail(ErrorCode::kParse, "not an object of the host");
  TUNEC_ASSIGN(const auto sections, Taken(elf.sections()));
  std::string image = bytes_;
  TUNEC_ASSIGN(FunctionOffsets functions, ObjectLinker(elf, sections, image).Run());
  bytes_ = std::move(image);
  return functions;
}

}  // namespace tunec
