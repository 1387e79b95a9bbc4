#include "jit/open_device.h"

#include "jit/cpu/cpu_device.h"
#include "jit/cpu/detect_cpu.h"

namespace tunec {

Result<std::unique_ptr<Device>> OpenDevice(const Target& target, ThreadPool& pool) {
  TUNEC_RETURN_IF_ERROR(CheckRunsHere(target));
  return MakeCpuDevice(pool);
}

}  // namespace tunec
