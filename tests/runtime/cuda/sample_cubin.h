// The smallest cubin that CheckCubin accepts: an ELF header.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>

namespace tunec {

inline std::string SampleCubin() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = EM_CUDA;
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header));
}

}  // namespace tunec
