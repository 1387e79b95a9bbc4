// A fuzz target for .safetensors files. The first and last element of non-empty tensors are read.
#include "graph/text/safetensors.h"
#include "tests/fuzz_input/finding.h"
#include "tests/fuzz_input/memory_file.h"

namespace tunec::fuzz {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  const Result<SafetensorsFile> opened = SafetensorsFile::Open(file.path());
  if (!opened) {
    RequireTheirFault(opened.error(), "opening");
    return 0;
  }
  for (const auto& [name, array] : opened->tensors()) {
    if (array.size() == 0) continue;
    (void)array.GetDouble(0);
    (void)array.GetDouble(array.size() - 1);
  }
  return 0;
}

}  // namespace tunec::fuzz
