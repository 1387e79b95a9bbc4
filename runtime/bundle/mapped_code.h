// A function that makes the code in a bundle's bytes executable and returns its kernels.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/bundle/code_table.h"
#include "runtime/kernel.h"
#include "support/error.h"

namespace tunec::bundle {

/// Returns the kernels of an image. Requires: `owner` keeps the image at its address, which is
/// aligned to a page. The code runs in place, or from a copy if the system does not allow execution
/// in place. Fails with kIo if the system allows neither, and with kResourceLimit without memory
/// for the copy.
Result<std::vector<Kernel>> KernelsIn(std::shared_ptr<const void> owner,
                                      std::span<const std::byte> image,
                                      const std::vector<KernelContract>& kernels);

}  // namespace tunec::bundle
