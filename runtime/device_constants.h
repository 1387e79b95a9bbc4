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

struct DeviceConstants {
  std::vector<std::shared_ptr<const void>> owners;
  std::vector<std::byte*> addresses;  // null for those without data
  int64_t bytes = 0;
};

/// Who else has constants: `keys` are those of KeysOfConstants. No table: nobody.
struct ConstantSharing {
  std::shared_ptr<SharedConstants> table;
  std::vector<std::string> keys;
};

/// A device, and the pool that it may run on.
struct PooledDevice {
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<Device> device;
};

/// Bytes of workspace that the steps share.
int64_t WorkspaceBytes(std::span<const Step> steps);

/// Copies the constants that have data and that nobody else has there. Their data is dropped. Looks
/// first whether they have room together with the arena and the workspace of the steps:
/// kResourceLimit with the sizes. What it allocates keeps the device, for others may have it longer
/// than the caller.
Result<DeviceConstants> CopyConstants(const PooledDevice& device, std::vector<Constant>& constants,
                                      const ConstantSharing& sharing, std::span<const Step> steps,
                                      int64_t arena_bytes);

}  // namespace tunec
