// The host as a device that runs kernels.
#pragma once

#include <memory>

#include "runtime/device.h"
#include "runtime/kernel.h"
#include "runtime/thread_pool.h"

namespace tunec {

/// Kernels run on the pool's threads, which outlives them; Start returns when they are done.
std::unique_ptr<Device> MakeCpuDevice(ThreadPool& pool, PerfMap perf_map);

}  // namespace tunec
