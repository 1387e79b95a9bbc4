#include "device/open_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/cuda/cubin.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/load_driver.h"

namespace tunec {
namespace {

// Returns the number of the first GPU that runs the device's code and that `choice` allows.
Result<int> FindGpu(const CudaDriver& driver, const Accelerator& device, std::string_view choice) {
  const CudaArch* const arch = FindCudaArch(device.name);
  if (arch == nullptr) return Fail(ErrorCode::kDevice, "no code is generated for {}", device.name);
  TUNEC_ASSIGN(const std::vector<GpuFacts> gpus, ReadChosenGpus(driver, choice));
  const auto found = std::ranges::find_if(
      gpus, [&](const GpuFacts& gpu) { return CanRunCubinsFor(arch->name, gpu); });
  if (found != gpus.end()) return found->number;
  return Fail(ErrorCode::kDevice, "no GPU runs code for {}: {}", arch->name, CapabilitiesOf(gpus));
}

}  // namespace

Result<Accelerator> DetectCuda(const CudaDriver& driver, int number) {
  TUNEC_ASSIGN(const GpuFacts gpu, ReadGpuFacts(driver, number));
  const CudaArch* newest = nullptr;
  for (const CudaArch& arch : CudaArchs())
    if (CanRunCubinsFor(arch.name, gpu)) newest = &arch;
  if (newest == nullptr) {
    return Fail(ErrorCode::kDevice, "no code is generated for {}, whose compute capability is {}",
                Name(gpu), CapabilityOf(gpu));
  }
  TUNEC_ASSIGN(Accelerator device, CudaAccelerator(newest->name));
  device.part.clear();  // the real part is not known
  device.processors = gpu.processors;
  device.shared_bytes = gpu.block_shared_bytes;
  device.processor_shared_bytes = gpu.processor_shared_bytes;
  device.l2_bytes = gpu.l2_bytes;
  return device;
}

Result<Accelerator> DetectCuda(std::string_view choice) {
  TUNEC_ASSIGN(const CudaDriver driver, LoadCudaDriver());
  if (choice.empty()) return DetectCuda(driver, 0);
  TUNEC_ASSIGN(const std::vector<GpuFacts> gpus, ReadChosenGpus(driver, choice));
  return DetectCuda(driver, gpus.front().number);
}

Status CheckGpu(const Accelerator& device, std::string_view choice) {
  TUNEC_ASSIGN(const CudaDriver driver, LoadCudaDriver());
  TUNEC_RETURN_IF_ERROR(FindGpu(driver, device, choice));
  return {};
}

Result<std::string> FindGpuUuid(const Accelerator& device, std::string_view choice) {
  TUNEC_ASSIGN(const CudaDriver driver, LoadCudaDriver());
  TUNEC_ASSIGN(const int number, FindGpu(driver, device, choice));
  TUNEC_ASSIGN(const GpuFacts gpu, ReadGpuFacts(driver, number));
  return gpu.uuid;
}

Result<std::unique_ptr<Device>> OpenGpu(const Accelerator& device, const DeviceChoice& choice) {
  TUNEC_ASSIGN(const CudaDriver driver, LoadCudaDriver());
  TUNEC_ASSIGN(const int number, FindGpu(driver, device, choice.name));
  return OpenCudaDevice(driver, number, choice.hang_seconds);
}

}  // namespace tunec
