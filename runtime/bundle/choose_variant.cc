#include "runtime/bundle/choose_variant.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/cuda/cubin.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/load_driver.h"
#include "runtime/machine_features.h"

namespace tunec::bundle {
namespace {

constexpr std::string_view kCuda = "cuda";

Status CheckHost(const VariantHead& head) {
  const std::vector<std::string> missing = FindMissingFeatures(head.features);
  if (missing.empty()) return {};
  return Fail(ErrorCode::kDevice, "the processor has no {}", fmt::join(missing, ", "));
}

}  // namespace

struct LocalMachine::Gpus {
  CudaDriver driver;
  std::vector<GpuFacts> facts;  // facts of the GPUs that may be used
};

LocalMachine::LocalMachine(DeviceChoice choice) : choice_(std::move(choice)) {}
LocalMachine::~LocalMachine() = default;

Result<const LocalMachine::Gpus*> LocalMachine::FindGpus() {
  const auto find = [&]() -> Result<Gpus> {
    Gpus gpus;
    TUNEC_ASSIGN(gpus.driver, LoadCudaDriver());
    TUNEC_ASSIGN(gpus.facts, ReadChosenGpus(gpus.driver, choice_.name));
    return gpus;
  };
  if (gpus_ == nullptr) gpus_ = std::make_unique<const Result<Gpus>>(find());
  if (*gpus_) return &**gpus_;
  return std::unexpected(gpus_->error());
}

// Returns the number of the GPU that runs a variant's steps; none: the host runs them. Fails with
// kDevice if this machine, or the choice, does not allow the variant.
Result<std::optional<int>> LocalMachine::NumberFor(const VariantHead& head) {
  TUNEC_RETURN_IF_ERROR(CheckHost(head));
  if (head.device.empty()) {
    if (choice_.name.empty() || choice_.name == kHostOnly) return std::nullopt;
    return Fail(ErrorCode::kDevice, "GPU '{}' is requested", choice_.name);
  }
  if (choice_.name == kHostOnly) return Fail(ErrorCode::kDevice, "the CPU is requested");
  if (head.device != kCuda)
    return Fail(ErrorCode::kDevice, "this tunec drives no '{}'", head.device);
  TUNEC_ASSIGN(const Gpus* const gpus, FindGpus());
  const std::vector<GpuFacts>& facts = gpus->facts;
  const auto found = std::ranges::find_if(
      facts, [&](const GpuFacts& gpu) { return CanRunCubinsFor(head.arch, gpu); });
  if (found != facts.end()) return found->number;
  return Fail(ErrorCode::kDevice, "{}", CapabilitiesOf(facts));
}

Status LocalMachine::Check(const VariantHead& head) {
  const auto number = NumberFor(head);
  return number ? Status() : std::unexpected(number.error());
}

Result<std::shared_ptr<Device>> LocalMachine::Open(const VariantHead& head) {
  TUNEC_ASSIGN(const std::optional<int> number, NumberFor(head));
  if (!number) return nullptr;
  TUNEC_ASSIGN(const Gpus* const gpus, FindGpus());
  return OpenCudaDevice(gpus->driver, *number, choice_.hang_seconds);
}

std::string Name(const VariantHead& head) {
  return head.device.empty() ? fmt::format("cpu {}", head.cpu)
                             : fmt::format("{} {}", head.device, head.arch);
}

std::vector<size_t> OrderOfChoice(const std::vector<VariantHead>& heads) {
  std::vector<size_t> order(heads.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_partition(order, [&](size_t i) { return !heads[i].device.empty(); });
  return order;
}

}  // namespace tunec::bundle
