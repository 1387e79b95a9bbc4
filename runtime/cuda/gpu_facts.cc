#include "runtime/cuda/gpu_facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/cuda/driver_error.h"

namespace tunec {
namespace {

Status Check(const CudaDriver& driver, int number, CuResult result) {
  if (result == CuResult::kSuccess) return {};
  return Fail(ErrorCode::kDevice, "the NVIDIA driver cannot describe GPU {}: {}", number,
              DescribeCuResult(driver, result));
}

// Formats a UUID like nvidia-smi.
std::string UuidText(const CuUuid& uuid) {
  std::string text = "GPU";
  for (size_t i = 0; i < uuid.size(); ++i) {
    const bool begins = i == 0 || (i >= 4 && i <= 10 && i % 2 == 0);
    text += fmt::format("{}{:02x}", begins ? "-" : "", uuid.at(i));
  }
  return text;
}

}  // namespace

std::string Name(const GpuFacts& facts) {
  return fmt::format("{} (device {})", facts.name, facts.number);
}

std::string CapabilityOf(const GpuFacts& facts) {
  return fmt::format("{}.{}", facts.capability_major, facts.capability_minor);
}

std::string CapabilitiesOf(const std::vector<GpuFacts>& gpus) {
  std::string text;
  for (const GpuFacts& gpu : gpus)
    text += fmt::format("{}{} has compute capability {}", text.empty() ? "" : ", ", Name(gpu),
                        CapabilityOf(gpu));
  return text;
}

Result<GpuFacts> ReadGpuFacts(const CudaDriver& driver, int number) {
  const auto check = [&](CuResult result) { return Check(driver, number, result); };
  GpuFacts facts{.number = number};
  CuDevice device = 0;
  TUNEC_RETURN_IF_ERROR(check(driver.DeviceGet(&device, number)));
  std::array<char, 256> name{};
  TUNEC_RETURN_IF_ERROR(check(driver.DeviceGetName(name.data(), name.size() - 1, device)));
  facts.name = name.data();
  CuUuid uuid{};
  TUNEC_RETURN_IF_ERROR(check(driver.DeviceGetUuid(&uuid, device)));
  facts.uuid = UuidText(uuid);
  size_t memory = 0;
  TUNEC_RETURN_IF_ERROR(check(driver.DeviceTotalMem(&memory, device)));
  facts.memory_bytes = static_cast<int64_t>(memory);
  const auto read = [&](CuDeviceAttribute attribute, auto& fact) -> Status {
    int value = 0;
    TUNEC_RETURN_IF_ERROR(check(driver.DeviceGetAttribute(&value, attribute, device)));
    fact = value;
    return {};
  };
  using enum CuDeviceAttribute;
  TUNEC_RETURN_IF_ERROR(read(kCapabilityMajor, facts.capability_major));
  TUNEC_RETURN_IF_ERROR(read(kCapabilityMinor, facts.capability_minor));
  TUNEC_RETURN_IF_ERROR(read(kProcessors, facts.processors));
  TUNEC_RETURN_IF_ERROR(read(kBlockSharedBytes, facts.block_shared_bytes));
  TUNEC_RETURN_IF_ERROR(read(kProcessorSharedBytes, facts.processor_shared_bytes));
  TUNEC_RETURN_IF_ERROR(read(kL2Bytes, facts.l2_bytes));
  return facts;
}

Result<std::vector<GpuFacts>> ReadAllGpuFacts(const CudaDriver& driver) {
  int count = 0;
  if (const CuResult result = driver.DeviceGetCount(&count); result != CuResult::kSuccess) {
    return Fail(ErrorCode::kDevice, "the NVIDIA driver cannot count its GPUs: {}",
                DescribeCuResult(driver, result));
  }
  std::vector<GpuFacts> all;
  for (int number = 0; number < count; ++number) {
    TUNEC_ASSIGN(GpuFacts facts, ReadGpuFacts(driver, number));
    all.push_back(std::move(facts));
  }
  return all;
}

Result<std::vector<GpuFacts>> ReadChosenGpus(const CudaDriver& driver, std::string_view choice) {
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

}  // namespace tunec
