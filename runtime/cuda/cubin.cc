#include "runtime/cuda/cubin.h"

#include <elf.h>

#include <charconv>
#include <cstdint>
#include <cstring>

namespace tunec {
namespace {

std::unexpected<Error> Damaged(std::string_view what) {
  return Fail(ErrorCode::kParse, "the cubin is damaged: {}", what);
}

template <class T>
T ReadAt(std::string_view bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

bool Contains(std::string_view bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

Status CheckSections(std::string_view bytes, const Elf64_Ehdr& header) {
  if (header.e_shnum == 0) return {};
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      !Contains(bytes, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) {
    return Damaged("its section table exceeds the file");
  }
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = ReadAt<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS && !Contains(bytes, section.sh_offset, section.sh_size)) {
      return Damaged("a section exceeds the file");
    }
  }
  return {};
}

}  // namespace

Status CheckCubin(std::string_view bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) return Damaged("it is too short");
  const auto header = ReadAt<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_CUDA) {
    return Damaged("it is not an ELF file for NVIDIA GPUs");
  }
  if (!Contains(bytes, header.e_phoff, uint64_t{header.e_phnum} * header.e_phentsize)) {
    return Damaged("its segment table exceeds the file");
  }
  return CheckSections(bytes, header);
}

bool CanRunCubinsFor(std::string_view arch, const GpuFacts& gpu) {
  constexpr std::string_view kPrefix = "sm_";
  if (!arch.starts_with(kPrefix)) return false;
  const char* const end = arch.data() + arch.size();
  int capability = 0;  // 10 * major + minor
  const auto [stop, error] = std::from_chars(arch.data() + kPrefix.size(), end, capability);
  if (error != std::errc()) return false;
  const std::string_view suffix(stop, static_cast<size_t>(end - stop));
  const int major = capability / 10;
  const int minor = capability % 10;
  if (suffix == "a") return major == gpu.capability_major && minor == gpu.capability_minor;
  return suffix.empty() && major == gpu.capability_major && minor <= gpu.capability_minor;
}

}  // namespace tunec
