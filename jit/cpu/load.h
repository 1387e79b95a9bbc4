// The loading of an image for the host as a kernel that can be called.
#pragma once

#include <span>
#include <string_view>

#include "runtime/kernel.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// Links the image into this process. The code is unloaded when the last owner of Kernel::code is
/// destroyed; thousands of load and drop cycles do not grow the process. The function is
/// thread-safe. Errors include kParse for damaged bytes or an image for another device, kNotFound
/// for a missing function, and kInternal for imported symbols.
Result<Kernel> LoadKernel(const KernelImage& image, PerfMap perf_map = PerfMap::kOff);

/// A function of this process that code may call.
struct ImportedFunction {
  std::string_view name;
  const void* address = nullptr;
};
/// Links an object like LoadKernel, for any format name. The object may import the functions in
/// `imports` and no others.
Result<Kernel> LoadObject(const KernelImage& image, std::span<const ImportedFunction> imports,
                          PerfMap perf_map);

}  // namespace tunec
