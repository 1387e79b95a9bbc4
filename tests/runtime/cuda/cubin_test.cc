// Tests that CheckCubin accepts complete cubins, and rejects incomplete cubins and other files.
#include "runtime/cuda/cubin.h"

#include <gtest/gtest.h>

#include "tests/runtime/cuda/sample_cubin.h"

namespace tunec {
namespace {

std::string RejectionOf(const std::string& bytes) {
  const Status checked = CheckCubin(bytes);
  if (checked) return "none";
  EXPECT_EQ(checked.error().code, ErrorCode::kParse);
  return checked.error().message;
}

Elf64_Ehdr SampleHeader() {
  Elf64_Ehdr header{};
  std::memcpy(&header, SampleCubin().data(), sizeof(header));
  return header;
}

// Returns an ELF header and the header of one section that claims this size, followed by four
// bytes.
std::string WithSection(uint32_t type, uint64_t size) {
  Elf64_Ehdr header = SampleHeader();
  header.e_shnum = 1;
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  Elf64_Shdr section{};
  section.sh_type = type;
  section.sh_offset = sizeof(header) + sizeof(section);
  section.sh_size = size;
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
         std::string(reinterpret_cast<const char*>(&section), sizeof(section)) + "code";
}

TEST(Cubin, AWholeOneIsTaken) {
  EXPECT_TRUE(CheckCubin(SampleCubin()));
  EXPECT_TRUE(CheckCubin(WithSection(SHT_PROGBITS, 4)));
  EXPECT_TRUE(
      CheckCubin(WithSection(SHT_NOBITS, 4096)));  // shared memory occupies no bytes in the file
}

TEST(Cubin, PtxAndOtherFilesAreRejected) {
  EXPECT_EQ(RejectionOf(""), "the cubin is damaged: it is too short");
  const std::string ptx = ".version 8.0\n.target sm_90a\n.address_size 64\n" + std::string(64, ' ');
  EXPECT_EQ(RejectionOf(ptx), "the cubin is damaged: it is not an ELF file for NVIDIA GPUs");
  Elf64_Ehdr host = SampleHeader();
  host.e_machine = EM_X86_64;
  EXPECT_EQ(RejectionOf(std::string(reinterpret_cast<const char*>(&host), sizeof(host))),
            "the cubin is damaged: it is not an ELF file for NVIDIA GPUs");
}

TEST(Cubin, ATruncatedOneIsRejected) {
  const std::string whole = WithSection(SHT_PROGBITS, 4);
  EXPECT_EQ(RejectionOf(whole.substr(0, whole.size() - 1)),
            "the cubin is damaged: a section exceeds the file");
  EXPECT_EQ(RejectionOf(whole.substr(0, sizeof(Elf64_Ehdr) + 8)),
            "the cubin is damaged: its section table exceeds the file");
  EXPECT_EQ(RejectionOf(WithSection(SHT_PROGBITS, UINT64_MAX)),
            "the cubin is damaged: a section exceeds the file");
  Elf64_Ehdr header = SampleHeader();
  header.e_phnum = 1;
  header.e_phoff = 8;
  header.e_phentsize = sizeof(Elf64_Phdr) + 1;
  EXPECT_EQ(RejectionOf(std::string(reinterpret_cast<const char*>(&header), sizeof(header))),
            "the cubin is damaged: its segment table exceeds the file");
}

}  // namespace
}  // namespace tunec
