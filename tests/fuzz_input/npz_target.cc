// A fuzz target for NumPy files. An input is read as .npz and as .npy. Sizes of arrays are checked.
#include <algorithm>

#include "numpy/npz.h"
#include "tests/fuzz_input/finding.h"
#include "tests/fuzz_input/memory_file.h"

namespace tunec::fuzz {
namespace {

void CheckArray(const NamedArray& array) {
  Require(static_cast<int64_t>(array.bytes.size()) == ByteSize(array.spec), "an array's bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  if (const auto arrays = ReadNpz(file.path())) {
    std::ranges::for_each(*arrays, CheckArray);
  } else {
    RequireTheirFault(arrays.error(), "reading an .npz");
  }
  if (const auto array = ReadNpy(file.path())) {
    CheckArray(*array);
  } else {
    RequireTheirFault(array.error(), "reading an .npy");
  }
  return 0;
}

}  // namespace tunec::fuzz
