// The device that a target's kernels run on.
#pragma once

#include <memory>

#include "ir/target.h"
#include "runtime/device.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// The host on the pool's threads, for targets without a device of their own. The pool outlives
/// what is returned. kDevice where this machine cannot run code for the target.
Result<std::unique_ptr<Device>> OpenDevice(const Target& target, ThreadPool& pool);

}  // namespace tunec
