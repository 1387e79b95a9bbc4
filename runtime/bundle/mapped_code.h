// Code that lies in a bundle's bytes, ready to be called.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/bundle/code_table.h"
#include "runtime/kernel.h"
#include "support/error.h"

namespace tunec::bundle {

/// The kernels of an image that `owner` keeps where it is, from a page on. It is run where it is
/// mapped or, where the file system forbids that, from a copy. Errors: kIo where the system refuses
/// both.
Result<std::vector<Kernel>> KernelsIn(std::shared_ptr<const void> owner,
                                      std::span<const std::byte> image,
                                      const std::vector<KernelContract>& kernels);

}  // namespace tunec::bundle
