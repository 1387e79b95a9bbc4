// The host as a device that runs kernels.
#pragma once

#include <memory>

#include "runtime/device.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Kernels run on the pool's threads, which outlives the device; Launch returns when they are done.
std::unique_ptr<Device> MakeCpuDevice(ThreadPool& pool);

}  // namespace tunec
