#include "jit/cuda/open_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/load_driver.h"

namespace tunec {
namespace {

std::string CapabilityOf(const GpuFacts& gpu) {
  return fmt::format("{}.{}", gpu.capability_major, gpu.capability_minor);
}

// "NVIDIA A100 (device 0) has compute capability 8.0"
std::string Describe(const std::vector<GpuFacts>& gpus) {
  std::string text;
  for (const GpuFacts& gpu : gpus) {
    text += fmt::format("{}{} has compute capability {}", text.empty() ? "" : ", ", Name(gpu),
                        CapabilityOf(gpu));
  }
  return text;
}

// All GPUs, or the one that is chosen.
Result<std::vector<GpuFacts>> ReadGpus(const CudaDriver& driver, std::string_view choice) {
  TUNEC_ASSIGN(std::vector<GpuFacts> gpus, ReadAllGpuFacts(driver));
  if (choice.empty()) return gpus;
  const auto found = std::ranges::find_if(gpus, [&](const GpuFacts& gpu) {
    return gpu.uuid == choice || std::to_string(gpu.number) == choice;
  });
  if (found != gpus.end()) return std::vector{*found};
  std::string known;
  for (const GpuFacts& gpu : gpus)
    known += fmt::format("{}{}, {}", known.empty() ? "" : "; ", Name(gpu), gpu.uuid);
  return Fail(ErrorCode::kDevice, "this machine has no GPU '{}'; it has {}", choice, known);
}

// The number of the first GPU that runs the device's code.
Result<int> FindGpu(const CudaDriver& driver, const Accelerator& device, std::string_view choice) {
  const CudaArch* const arch = FindCudaArch(device.name);
  if (arch == nullptr) return Fail(ErrorCode::kDevice, "no code is generated for {}", device.name);
  TUNEC_ASSIGN(const std::vector<GpuFacts> gpus, ReadGpus(driver, choice));
  const auto found =
      std::ranges::find_if(gpus, [&](const GpuFacts& gpu) { return RunsOn(*arch, gpu); });
  if (found != gpus.end()) return found->number;
  return Fail(ErrorCode::kDevice, "no GPU runs code for {}: {}", arch->name, Describe(gpus));
}

}  // namespace

bool RunsOn(const CudaArch& arch, const GpuFacts& gpu) {
  if (arch.IsSpecific()) return arch.capability == CapabilityOf(gpu);
  const std::string generation = fmt::format("{}.", gpu.capability_major);
  return arch.capability.starts_with(generation) && arch.capability <= CapabilityOf(gpu);
}

Result<Accelerator> DetectCuda(const CudaDriver& driver, int number) {
  TUNEC_ASSIGN(const GpuFacts gpu, ReadGpuFacts(driver, number));
  const CudaArch* newest = nullptr;
  for (const CudaArch& arch : CudaArchs())
    if (RunsOn(arch, gpu)) newest = &arch;
  if (newest == nullptr) {
    return Fail(ErrorCode::kDevice, "no code is generated for {}, whose compute capability is {}",
                Name(gpu), CapabilityOf(gpu));
  }
  TUNEC_ASSIGN(Accelerator device, CudaAccelerator(newest->name));
  device.part.clear();  // the arch's assumed one
  device.processors = gpu.processors;
  device.shared_bytes = gpu.block_shared_bytes;
  device.processor_shared_bytes = gpu.processor_shared_bytes;
  device.l2_bytes = gpu.l2_bytes;
  return device;
}

Result<Accelerator> DetectCuda(std::string_view choice) {
  TUNEC_ASSIGN(const CudaDriver driver, LoadCudaDriver());
  if (choice.empty()) return DetectCuda(driver, 0);
  TUNEC_ASSIGN(const std::vector<GpuFacts> gpus, ReadGpus(driver, choice));
  return DetectCuda(driver, gpus.front().number);
}

Status CheckGpu(const Accelerator& device, std::string_view choice) {
  TUNEC_ASSIGN(const CudaDriver driver, LoadCudaDriver());
  TUNEC_RETURN_IF_ERROR(FindGpu(driver, device, choice));
  return {};
}

Result<std::unique_ptr<Device>> OpenGpu(const Accelerator& device, std::string_view choice) {
  TUNEC_ASSIGN(const CudaDriver driver, LoadCudaDriver());
  TUNEC_ASSIGN(const int number, FindGpu(driver, device, choice));
  return OpenCudaDevice(driver, number);
}

}  // namespace tunec
