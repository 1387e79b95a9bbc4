// Code in a bundle's bytes, ready to be called.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/bundle/code_table.h"
#include "runtime/kernel.h"
#include "support/error.h"

namespace tunec::bundle {

/// Returns the kernels of an image, which `owner` keeps in place and which is aligned to a page.
/// The code runs in place, or from a copy if the file system does not allow that. Fails with kIo if
/// the system allows neither.
Result<std::vector<Kernel>> KernelsIn(std::shared_ptr<const void> owner,
                                      std::span<const std::byte> image,
                                      const std::vector<KernelContract>& kernels);

}  // namespace tunec::bundle
