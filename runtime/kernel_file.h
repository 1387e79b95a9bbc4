// The file format of a compiled kernel with the descriptions of its arguments. A machine that has
// the device and its driver can run the kernel without a compiler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/data_type.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// The description of a kernel's argument.
struct KernelArgument {
  std::string name;  // one word
  DataType type = DataType::kF32;
  int64_t elements = 0;  // elements in memory, including padding
  bool output = false;   // written, and read only after it was written

  size_t bytes() const { return static_cast<size_t>(elements) * SizeOf(type); }
  bool operator==(const KernelArgument&) const = default;
};

/// A compiled kernel and the descriptions of its arguments.
struct KernelFile {
  std::vector<KernelArgument> arguments;  // in the kernel's order
  KernelImage image;
  bool operator==(const KernelFile&) const = default;
};

/// Returns the file: lines of text and the image (kernel_image.h). The lines are `tunec-kernel 1`,
/// then for each argument `argument NAME TYPE ELEMENTS in` or `... out`, then `image`.
std::string Serialize(const KernelFile& file);
/// Parses a file. Fails with kParse for a wrong form or another version. The code in the image is
/// not checked.
Result<KernelFile> ParseKernelFile(std::string_view text);

}  // namespace tunec
