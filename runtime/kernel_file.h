// A compiled kernel with what there is to know of its arguments, as a file: what a machine can run
// that has a device and its driver, and no compiler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/data_type.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

struct KernelArgument {
  std::string name;  // one word
  DataType type = DataType::kF32;
  int64_t elements = 0;  // as they lie in memory, padding included
  bool output = false;   // written, and read only after that

  size_t bytes() const { return static_cast<size_t>(elements) * SizeOf(type); }
  bool operator==(const KernelArgument&) const = default;
};

struct KernelFile {
  std::vector<KernelArgument> arguments;  // in the kernel's order
  KernelImage image;
  bool operator==(const KernelFile&) const = default;
};

/// Lines of text, `tunec-kernel 1`, then for each argument `argument NAME TYPE ELEMENTS in` or
/// `... out`, then `image`; behind it the image (kernel_image.h).
std::string Serialize(const KernelFile& file);
/// The inverse. kParse when it is damaged or of another version.
Result<KernelFile> ParseKernelFile(std::string_view text);

}  // namespace tunec
