#include "device/open_device.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "device/open_gpu.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cpu/load.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/ptxas.h"
#include "runtime/host_device.h"
#include "support/check.h"

namespace tunec {
namespace {

DeviceDriver DriverOfGpus() {
  return {.kind = std::string(kCudaKind),
          .check = [](const DeviceRequest& request) -> Status {
            if (IsEmulated(request.device)) return {};
            return CheckGpu(request.device, request.choice.name);
          },
          .open = [](const DeviceRequest& request, ThreadPool& pool,
                     PerfMap perf_map) -> Result<std::unique_ptr<Device>> {
            if (IsEmulated(request.device)) return MakeEmulatedDevice(pool, perf_map);
            return OpenGpu(request.device, request.choice);
          },
          .identify =
              [](const DeviceRequest& request) {
                return FindGpuUuid(request.device, request.choice.name);
              }};
}

struct KnownDrivers {
  std::mutex mutex;
  std::vector<DeviceDriver> list = {DriverOfGpus()};

  std::optional<DeviceDriver> Find(const std::string& kind) const {
    const auto found = std::ranges::find(list, kind, &DeviceDriver::kind);
    return found == list.end() ? std::nullopt : std::optional(*found);
  }
};

KnownDrivers& Known() {
  static KnownDrivers known;
  return known;
}

Result<DeviceDriver> DriverFor(const Accelerator& device) {
  KnownDrivers& known = Known();
  const std::lock_guard lock(known.mutex);
  if (const auto driver = known.Find(device.kind)) return *driver;
  return Fail(ErrorCode::kDevice, "this machine has no {} that tunec can drive", device.kind);
}

}  // namespace

Status CheckRunsHere(const Target& target, const DeviceChoice& choice) {
  if (!target.device) return CheckHostRuns(target.host);
  TUNEC_ASSIGN(const DeviceDriver driver, DriverFor(*target.device));
  return driver.check({*target.device, choice});
}

std::optional<Target> EmulatedTarget(const Target& target) {
  if (!target.device || !IsEmulated(*target.device)) return std::nullopt;
  Target emulated = target;
  for (const std::string_view own : {kEmulated, kChecked})
    emulated.device->features.erase(std::string(own));
  return emulated;
}

Status CheckTimesHere(const Target& target, const DeviceChoice& choice) {
  if (target.device && IsEmulated(*target.device)) {
    TUNEC_RETURN_IF_ERROR(FindPtxas());
    return {};
  }
  Status here = CheckRunsHere(target, choice);
  if (here || !target.device || target.device->kind != kCudaKind) return here;
  here.error().message += "; with --emulate, candidates are ranked by predicted times";
  return here;
}

std::string DeviceIdentity(const Target& target, const DeviceChoice& choice) {
  if (!target.device || IsEmulated(*target.device)) return Target().Kind();
  const Result<DeviceDriver> driver = DriverFor(*target.device);
  if (!driver || !driver->identify) return target.Kind();
  return driver->identify({*target.device, choice}).value_or(target.Kind());
}

Result<std::unique_ptr<Device>> OpenDevice(const Target& target, ThreadPool& pool, PerfMap perf_map,
                                           const DeviceChoice& choice) {
  if (!target.device) {
    TUNEC_RETURN_IF_ERROR(CheckHostRuns(target.host));
    return MakeHostDevice(
        pool, [perf_map](const KernelImage& image) { return LoadKernel(image, perf_map); },
        [](std::shared_ptr<void> owner, const void*, size_t) { return owner; });
  }
  TUNEC_ASSIGN(const DeviceDriver driver, DriverFor(*target.device));
  return driver.open({*target.device, choice}, pool, perf_map);
}

RegisteredDriver::RegisteredDriver(DeviceDriver driver) : kind_(driver.kind) {
  KnownDrivers& known = Known();
  const std::lock_guard lock(known.mutex);
  TUNEC_CHECK(!known.Find(kind_), "two drivers for {}", kind_);
  known.list.push_back(std::move(driver));
}

RegisteredDriver::~RegisteredDriver() {
  KnownDrivers& known = Known();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.list, [&](const DeviceDriver& driver) { return driver.kind == kind_; });
}

}  // namespace tunec
