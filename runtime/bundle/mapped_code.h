// Code that lies in a mapped file, ready to be called.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/bundle/code_table.h"
#include "runtime/kernel.h"
#include "support/error.h"
#include "support/file.h"

namespace tunec::bundle {

/// The kernels of an image that is a part of the file, from a page on. It is run where it is mapped
/// or, where the file system forbids that, from a copy. Errors: kIo where the system refuses both.
Result<std::vector<Kernel>> KernelsIn(std::shared_ptr<const MappedFile> file,
                                      std::span<const std::byte> image,
                                      const std::vector<KernelContract>& kernels);

}  // namespace tunec::bundle
