// The host as a device that runs kernels.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "runtime/device.h"
#include "runtime/kernel.h"
#include "runtime/kernel_image.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Creates a device that runs kernels on the pool's threads; Start returns when the kernels are
/// done. `load` turns an image into functions of the host. `wrap_owner` is called with the owner,
/// the address and the size of each allocation, and returns the owner to store. Requires: the pool
/// outlives the device.
std::unique_ptr<Device> MakeHostDevice(
    ThreadPool& pool, std::function<Result<Kernel>(const KernelImage&)> load,
    std::function<std::shared_ptr<void>(std::shared_ptr<void>, const void*, size_t)> wrap_owner);

}  // namespace tunec
