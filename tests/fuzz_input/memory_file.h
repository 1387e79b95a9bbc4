// A class that stores bytes in a file in memory, for readers that map files or seek.
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz_input/finding.h"

namespace tunec::fuzz {

/// A file in memory, so that thousands of inputs per second do not use the disk.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    Require(descriptor_ >= 0 && write(descriptor_, data, size) == static_cast<ssize_t>(size),
            "a file in memory");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

}  // namespace tunec::fuzz
