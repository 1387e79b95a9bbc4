// Private to runtime/: an executable's constants in a device's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/executable_plan.h"
#include "runtime/shared_constants.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// The memory of an executable's constants on a device. `bytes` includes shared constants, and the
/// size of each constant is rounded up to a multiple of 256.
struct DeviceConstants {
  std::vector<std::shared_ptr<const void>> owners;
  std::vector<std::byte*> addresses;  // null for constants without data
  int64_t bytes = 0;
};

/// The table of constants that executables share, and the key of each constant (KeysOfConstants). A
/// null table: constants are not shared.
struct ConstantSharing {
  std::shared_ptr<SharedConstants> table;
  std::vector<std::string> keys;
};

/// A device, and the thread pool that the device may use.
struct PooledDevice {
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<Device> device;
};

/// Returns the number of bytes of the workspace that the steps share: the largest need of a step.
int64_t WorkspaceBytes(std::span<const Step> steps);

/// Gives all constants that have data an address on the device, and releases the host data.
/// Constants that the shared table has are not copied again. Fails with kResourceLimit if the
/// copies do not fit together with the arena and the workspace of the steps. Also fails with the
/// device's errors. The allocated memory keeps the device alive, because other executables may use
/// this memory longer than the caller.
Result<DeviceConstants> CopyConstants(const PooledDevice& device, std::vector<Constant>& constants,
                                      const ConstantSharing& sharing, std::span<const Step> steps,
                                      int64_t arena_bytes);

}  // namespace tunec
