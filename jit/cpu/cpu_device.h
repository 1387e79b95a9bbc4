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

/// Kernels run on the pool's threads, which outlives them; Start returns when they are done.
std::unique_ptr<Device> MakeCpuDevice(ThreadPool& pool, PerfMap perf_map);
/// The same with images of another format, which become functions of the host in another way.
/// `keep` is told of memory that is allocated, and gives the owner that it gets.
std::unique_ptr<Device> MakeHostDevice(
    ThreadPool& pool, std::function<Result<Kernel>(const KernelImage&)> load,
    std::function<std::shared_ptr<void>(std::shared_ptr<void>, const void*, size_t)> keep);

}  // namespace tunec
